// Kernels for all pairs of columns: values counted, one-hot rows made, and the posterior of every pair's table.
//
// A column has codes 0 .. s-1 of one byte, and others where its value is missing. Its one-hot rows are those of its
// first `kept` values: s where values are missing, else s - 1, for the last value is what remains. `product` has the
// common counts of the one-hot rows of two blocks of columns.

typedef unsigned char byte;

// totals[column, value] = how often it occurs. A row of codes has a multiple of 16 bytes; what follows the data is 255.
extern "C" __global__ void count_values(const uint4* codes, long long words, const int* values, int most, int* totals) {
  extern __shared__ int found[];
  const int column = blockIdx.y, s = values[column];
  for (int value = threadIdx.x; value < s; value += blockDim.x) found[value] = 0;
  __syncthreads();
  for (long long first = (long long)blockIdx.x * blockDim.x; first < words; first += (long long)gridDim.x * blockDim.x) {
    const long long word = first + threadIdx.x;
    const uint4 here = word < words ? codes[column * words + word] : make_uint4(~0u, ~0u, ~0u, ~0u);
    for (int value = 0; value < s; ++value) {
      const unsigned same = value * 0x01010101u;
      int own = __popc(__vcmpeq4(here.x, same)) + __popc(__vcmpeq4(here.y, same)) + __popc(__vcmpeq4(here.z, same))
                + __popc(__vcmpeq4(here.w, same));
      own = __reduce_add_sync(~0u, own);
      if ((threadIdx.x & 31) == 0 && own) atomicAdd(&found[value], own >> 3);
    }
  }
  __syncthreads();
  for (int value = threadIdx.x; value < s; value += blockDim.x)
    if (found[value]) atomicAdd(&totals[(long long)column * most + value], found[value]);
}

// hot[first[column] + value, row] = 1 where the row has the value; `stride` and `skip` are those of the codes, in words
extern "C" __global__ void one_hot(const uint4* codes, long long stride, long long skip, long long words,
                                   const int* first, const int* kept, uint4* hot) {
  const int column = blockIdx.y;
  const long long word = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= words) return;
  const uint4 here = skip + word < stride ? codes[column * stride + skip + word] : make_uint4(~0u, ~0u, ~0u, ~0u);
  const unsigned ones = 0x01010101u;
  for (int value = 0; value < kept[column]; ++value) {
    const unsigned same = value * ones;
    hot[(first[column] + value) * words + word] =
        make_uint4(__vcmpeq4(here.x, same) & ones, __vcmpeq4(here.y, same) & ones, __vcmpeq4(here.z, same) & ones,
                   __vcmpeq4(here.w, same) & ones);
  }
}

#ifdef TABLE_SIDE  // the room for a table: its longer side and its cells; TABLE_ROWS and TABLE_COLUMNS where the shape is known

// A table of r x s, s <= r; cell (i, j) is product[i * down + j * right]. What is not in the product remains.
DEVICE void load(const int* product, long long down, long long right, int kept_rows, int kept_columns,
                 const int* row_totals, const int* column_totals, Table<TABLE_SIDE, TABLE_CELLS>& table) {
  const int r = table.r, s = table.s;
  int row_rest[TABLE_SIDE], column_rest[TABLE_SIDE];
  EACH for (int i = 0; i < r; ++i) row_rest[i] = row_totals[i];
  EACH for (int j = 0; j < s; ++j) column_rest[j] = column_totals[j];
  EACH for (int i = 0; i < r; ++i)
    EACH for (int j = 0; j < s; ++j) {
      int count;
      if (i < kept_rows && j < kept_columns) count = product[i * down + j * right];
      else if (i < kept_rows) count = row_rest[i];  // the last value of a complete column: all that is left of the row
      else count = column_rest[j];
      table.n[i * s + j] = count;
      row_rest[i] -= count;
      column_rest[j] -= count;
    }
  EACH for (int i = 0; i < r; ++i) table.row_only[i] = row_rest[i];
  EACH for (int j = 0; j < s; ++j) table.column_only[j] = column_rest[j];
}

// Each pair of one of `first_columns` with one of `second_columns`, which are numbers within two blocks of columns; or,
// with `chosen`, the pairs of these numbers, a * second_block + b. The blocks start at `first_start` and `second_start`
// of all columns; only pairs whose second column comes later count. The figures that are wanted go to out[0, place],
// out[1, place] ...; the place is a * second_block + b, or that in `chosen`. Pairs for the CPU are listed in `left`.
extern "C" __global__ void __launch_bounds__(128) summarize_pairs(
    const int* product, long long width, const int* first_columns, const int* second_columns, int count_second,
    const long long* chosen, long long count, const int* first_rows, const int* second_rows, const int* first_values,
    const int* second_values, const int* first_kept, const int* second_kept, const int* first_totals,
    const int* second_totals, int most, long long first_start, long long second_start, int second_block,
    double smoothing, double loosest, double tightest, double prior_zero, double negligible, double level,
    double epsilon, int most_points, int wanted, double* out, long long room, int* left_count, int* left) {
  const long long number = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= count) return;
  int a, b;
  if (chosen) {
    a = (int)(chosen[number] / second_block);
    b = (int)(chosen[number] % second_block);
  } else {
    a = first_columns[number / count_second];
    b = second_columns[number % count_second];
    if (first_start + a >= second_start + b) return;
  }
  const Options options = {smoothing, loosest, tightest, prior_zero, negligible, level, epsilon, most_points, wanted};
  const bool turned = first_values[a] < second_values[b];
  Table<TABLE_SIDE, TABLE_CELLS> table;
#ifdef TABLE_ROWS
  table.r = TABLE_ROWS;
  table.s = TABLE_COLUMNS;
#else
  table.r = turned ? second_values[b] : first_values[a];
  table.s = turned ? first_values[a] : second_values[b];
#endif
  const int* of_first = first_totals + (long long)a * most;
  const int* of_second = second_totals + (long long)b * most;
  load(product + first_rows[a] * width + second_rows[b], turned ? 1 : width, turned ? width : 1,
       turned ? second_kept[b] : first_kept[a], turned ? first_kept[a] : second_kept[b],
       turned ? of_second : of_first, turned ? of_first : of_second, table);
  double figures[FIGURES];
  const long long own = (long long)a * second_block + b;
  if (!summarize<TABLE_SIDE, TABLE_CELLS, TABLE_POINTS, TABLE_MAY_MISS_BOTH>(table, options, figures)) {
    left[atomicAdd(left_count, 1)] = chosen ? (int)number : (int)own;
    return;
  }
  out += chosen ? number : own;
  *out = figures[P_INDEPENDENT];
  *(out += room) = figures[MEAN];
  if (wanted & INTERVAL) {
    *(out += room) = figures[LOW];
    *(out += room) = figures[HIGH];
  }
  if (wanted & ABOVE) *(out += room) = figures[P_ABOVE];
  if (wanted & EVIDENCE) {
    *(out += room) = figures[LOG_EVIDENCE];
    *(out += room) = figures[COMPLETE];
  }
}
#endif
