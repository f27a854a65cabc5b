// What libraries leave behind, for LeakSanitizer: faiss what it has begun when a file ends early, TBB's binding
// library the topology of the machine.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:faiss::read_index\nleak:libtbbbind\n";
}
