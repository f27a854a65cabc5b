// What libraries leave behind, for LeakSanitizer: faiss what it has begun when a file ends early, TBB's binding
// library the topology of the machine, TBB an observer of 40 bytes when its arena ends at the wrong moment (rare).
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:faiss::read_index\nleak:libtbbbind\nleak:tbb::detail::r1::observe\n";
}
