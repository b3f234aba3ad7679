/* An all-reduce of 8 and 64 MiB of floats per rank by MPI, the peer of ours: one line `mebibytes milliseconds` each,
 * medians of nine. Built and run by tests/bench/figures where mpicc and mpirun are found. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 9 };

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median_milliseconds(float* data, int count) {
  double times[rounds];
  for (int i = -1; i < rounds; ++i) { /* the first warms up */
    MPI_Barrier(MPI_COMM_WORLD);
    double time = -MPI_Wtime(), longest;
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    time += MPI_Wtime();
    MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 0) times[i] = longest * 1e3;
  }
  qsort(times, rounds, sizeof times[0], by_size);
  return times[rounds / 2];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int mebibytes = 8; mebibytes <= 64; mebibytes *= 8) {
    const int count = mebibytes * 1048576 / 4;
    float* data = calloc((size_t)count, sizeof *data);
    const double time = median_milliseconds(data, count);
    if (rank == 0) printf("%d %.3f\n", mebibytes, time);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
