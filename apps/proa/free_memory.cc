#include "free_memory.h"

#include <malloc.h>

#ifdef PROA_MIMALLOC
#include <mimalloc.h>
#endif

namespace proa {

void release_free_memory() {
#ifdef PROA_MIMALLOC
  mi_collect(true);
#endif
  ::malloc_trim(0);  // libraries that brought their own calls of the C library's allocator
}

}  // namespace proa
