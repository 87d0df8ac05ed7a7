// The CUDA sources, compiled for the CPU: figures of tables as `core.tables.Tables` has them.
#include "special.cuh"
#include "one_sided.cuh"
#include "mixture_tails.cuh"
#include "mode.cuh"
#include "two_sided.cuh"
#include "posterior.cuh"

extern "C" void figures(const double* flat, const long long* offsets, const long long* rows, const long long* columns,
                        long long count, const double* hyper, double* out, unsigned char* done) {
  const Options options = {hyper[0], hyper[1], hyper[2], hyper[3], hyper[4], hyper[5], hyper[6], (int)hyper[7],
                           INTERVAL | ABOVE | EVIDENCE};
  for (long long number = 0; number < count; ++number) {
    Table<12, 144> table;
    const int height = rows[number], width = columns[number];
    const bool turned = width > height;
    const double* block = flat + offsets[number];
    table.r = turned ? width : height;
    table.s = turned ? height : width;
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < width; ++j) table.n[turned ? j * height + i : i * width + j] = block[i * (width + 1) + j];
      (turned ? table.column_only : table.row_only)[i] = block[i * (width + 1) + width];
    }
    for (int j = 0; j < width; ++j) (turned ? table.row_only : table.column_only)[j] = block[height * (width + 1) + j];
    done[number] = summarize<12, 144, 18, true>(table, options, out + number * FIGURES);
  }
}
