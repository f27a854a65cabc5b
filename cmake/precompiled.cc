// Carries the precompiled headers.
int main() { return 0; }
