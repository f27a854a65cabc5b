#pragma once

namespace proa {

// Gives memory that the process has freed back to the system. Takes milliseconds.
// Threading: any thread that may block.
void release_free_memory();

}  // namespace proa
