// The functions by which a flavour of OpenBLAS is told apart; it multiplies nothing.

extern "C" {
int openblas_get_parallel();
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int);
void cblas_sgemm();

int openblas_get_parallel() { return FAKE_PARALLEL; }
char* openblas_get_config() {
  static char text[] = "OpenBLAS 0.0.0 FAKE";
  return text;
}
char* openblas_get_corename() {
  static char text[] = "None";
  return text;
}
void openblas_set_num_threads(int) {}
void cblas_sgemm() {}
}
