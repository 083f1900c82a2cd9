/**
 * Products of matrices for dense layers, on CPUs with AVX-512.
 *
 * - `RingmasterDense`: x·w + bias, and ReLU.
 * - `RingmasterDenseGradient`: gradient·wᵀ, and ReLU's gradient: 0 where `outputs` is not above 0.
 * - `RingmasterProductSum`: the sum of leftᵀ·right over micro-batches, the gradient of a weight. The terms are never in memory as a
 *   whole.
 * - `RingmasterColumnSum`: the sum of all rows over micro-batches, the gradient of a bias.
 *
 * An element adds its products in the order of the inner dimension, each with one rounding. So its bits do not depend on the rows next
 * to it, and micro-batches may be computed alone or together. A tile of 8 rows and up to 48 columns is in registers. Its right factor
 * is copied to contiguous memory before, because rows of a matrix often have an equal place in the cache and would displace each
 * other.
 */
#include "additions.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE __attribute__((target("avx512f"), always_inline)) inline

namespace ringmaster {
namespace {

/** Floats of a register. */
constexpr int kLanes = 16;
constexpr int kTileRows = 8;
constexpr int kTileColumns = 3 * kLanes;
/** Products of a tile that are added before the next tile's, so that the right factor stays in the cache. */
constexpr int64_t kDepth = 128;
/** Elements of the left factor's rows that are multiplied by all panels before the next ones, so that they stay in the cache. */
constexpr int64_t kLeftElements = 1 << 17;
/** Products that take as long as the transfer of an element. */
constexpr int64_t kProductsPerElement = 32;

/** Memory that a thread keeps from call to call. */
template <int Use>
float* scratch(int64_t size) {
  static thread_local std::unique_ptr<float, decltype(&std::free)> memory(nullptr, &std::free);
  static thread_local int64_t available = 0;
  if (available < size) {
    const int64_t bytes = (size * sizeof(float) + 63) / 64 * 64;
    memory.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
    available = memory ? size : 0;
    if (!memory) throw std::bad_alloc();
  }
  return memory.get();
}

/** A matrix's columns as panels of about equal width, in registers. */
class Panels {
 public:
  explicit Panels(int64_t columns) : registers_((columns + kLanes - 1) / kLanes) {}
  int64_t count() const { return (registers_ + kMost - 1) / kMost; }
  int64_t column(int64_t panel) const { return registers_ * panel / count() * kLanes; }
  /** Returns 1, 2 or 3. */
  int64_t width(int64_t panel) const { return (column(panel + 1) - column(panel)) / kLanes; }

 private:
  static constexpr int64_t kMost = kTileColumns / kLanes;
  int64_t registers_;
};

/** Selects the columns of a register that exist. */
inline __mmask16 maskOf(int64_t columns) {
  return columns >= kLanes ? 0xffff : columns <= 0 ? 0 : static_cast<__mmask16>((1u << columns) - 1);
}

/** Adds products to a tile. @param left `left(row, k)` @param right `W` registers for each k */
template <int W, typename Left>
AVX512_INLINE void addProducts(__m512 (&sums)[kTileRows][W], const Left& left, const float* right, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k, right += W * kLanes) {
    __m512 loaded[W];
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part) loaded[part] = _mm512_load_ps(right + part * kLanes);
#pragma GCC unroll 8
    for (int row = 0; row < kTileRows; ++row) {
      const __m512 factor = _mm512_set1_ps(left(row, k));
#pragma GCC unroll 3
      for (int part = 0; part < W; ++part) sums[row][part] = _mm512_fmadd_ps(factor, loaded[part], sums[row][part]);
    }
  }
}

/** Copies columns of rows, as whole registers. */
template <int W>
AVX512 void packRows(const Matrix& from, int64_t row, int64_t rows, int64_t column, float* packed) {
  const float* source = from.data + row * from.columns + column;
  for (int64_t k = 0; k < rows; ++k, source += from.columns, packed += W * kLanes)
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part) {
      const __mmask16 mask = maskOf(from.columns - column - part * kLanes);
      _mm512_store_ps(packed + part * kLanes, _mm512_maskz_loadu_ps(mask, source + part * kLanes));
    }
}

AVX512_INLINE __m512 unpackLow(__m512 left, __m512 right) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(left), _mm512_castps_pd(right)));
}

AVX512_INLINE __m512 unpackHigh(__m512 left, __m512 right) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(left), _mm512_castps_pd(right)));
}

/** Transposes 16 × 16 elements. */
AVX512_INLINE void transpose(__m512 (&rows)[16]) {
  __m512 pairs[16], fours[16];
  for (int i = 0; i < 8; ++i) {
    pairs[2 * i] = _mm512_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    fours[i] = unpackLow(pairs[i], pairs[i + 2]);
    fours[i + 1] = unpackHigh(pairs[i], pairs[i + 2]);
    fours[i + 2] = unpackLow(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = unpackHigh(pairs[i + 1], pairs[i + 3]);
  }
  // The parts of 4 elements of fours[4 i + j] are the columns j, 4 + j, 8 + j and 12 + j of the rows from 4 i.
  for (int j = 0; j < 4; ++j) {
    const __m512 even0 = _mm512_shuffle_f32x4(fours[j], fours[4 + j], 0x88);
    const __m512 odd0 = _mm512_shuffle_f32x4(fours[j], fours[4 + j], 0xdd);
    const __m512 even1 = _mm512_shuffle_f32x4(fours[8 + j], fours[12 + j], 0x88);
    const __m512 odd1 = _mm512_shuffle_f32x4(fours[8 + j], fours[12 + j], 0xdd);
    rows[j] = _mm512_shuffle_f32x4(even0, even1, 0x88);
    rows[4 + j] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
    rows[8 + j] = _mm512_shuffle_f32x4(even0, even1, 0xdd);
    rows[12 + j] = _mm512_shuffle_f32x4(odd0, odd1, 0xdd);
  }
}

/** Copies rows of the transposed matrix: its rows are columns of `from`. */
template <int W>
AVX512 void packColumns(const Matrix& from, int64_t row, int64_t rows, int64_t column, float* packed) {
  for (int part = 0; part < W; ++part) {
    for (int64_t k = 0; k < rows; k += kLanes) {
      __m512 block[kLanes];
      const __mmask16 mask = maskOf(rows - k);
      for (int i = 0; i < kLanes; ++i) {
        const int64_t source = column + part * kLanes + i;
        block[i] = source < from.rows ? _mm512_maskz_loadu_ps(mask, from.data + source * from.columns + row + k)
                                      : _mm512_setzero_ps();
      }
      transpose(block);
      for (int64_t i = 0; i < kLanes && k + i < rows; ++i)
        _mm512_store_ps(packed + ((k + i) * W + part) * kLanes, block[i]);
    }
  }
}

/** What follows the products of an element. */
struct Last {
  /** Null: no bias. */
  const float* bias = nullptr;
  bool relu = false;
  /** The result is 0 where it is not above 0. Null: nowhere. */
  const float* gate = nullptr;
};

/** Adds the products of one range of the inner dimension to a tile of the result. */
template <int W>
AVX512 void addTile(const Matrix& left, int64_t row, int64_t begin, int64_t depth, const float* packed, const Matrix& result,
                    int64_t column, const Last& last) {
  const float* rows[kTileRows];
  for (int i = 0; i < kTileRows; ++i) rows[i] = left.data + std::min(row + i, left.rows - 1) * left.columns + begin;
  float* target = const_cast<float*>(result.data) + row * result.columns + column;
  const int64_t height = std::min<int64_t>(kTileRows, left.rows - row);
  __mmask16 masks[W];
  for (int part = 0; part < W; ++part) masks[part] = maskOf(result.columns - column - part * kLanes);
  __m512 sums[kTileRows][W];
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part)
      sums[i][part] = begin == 0 || i >= height
                          ? _mm512_setzero_ps()
                          : _mm512_maskz_loadu_ps(masks[part], target + i * result.columns + part * kLanes);
  addProducts<W>(sums, [&](int i, int64_t k) { return rows[i][k]; }, packed, depth);
  const bool ends = begin + depth == left.columns;
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    if (i >= height) break;
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part) {
      const int64_t at = i * result.columns + part * kLanes;
      __m512 value = sums[i][part];
      if (ends && last.bias != nullptr)
        value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(masks[part], last.bias + column + part * kLanes));
      if (ends && last.relu) value = _mm512_max_ps(_mm512_setzero_ps(), value);  // keeps NaN
      if (ends && last.gate != nullptr) {
        const __m512 gate = _mm512_maskz_loadu_ps(masks[part], last.gate + row * result.columns + column + at);
        value = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(gate, _mm512_setzero_ps(), _CMP_GT_OQ), value);
      }
      _mm512_mask_storeu_ps(target + at, masks[part], value);
    }
  }
}

/** Multiplies rows by a panel of the right factor. */
template <int W>
void multiplyPanel(const Matrix& left, int64_t first, int64_t end, const Matrix& right, bool transposed, const Matrix& result,
                   int64_t column, const Last& last) {
  float* packed = scratch<0>(kDepth * kTileColumns);
  const int64_t parts = (left.columns + kDepth - 1) / kDepth;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = left.columns * part / parts, depth = left.columns * (part + 1) / parts - begin;
    if (transposed)
      packColumns<W>(right, begin, depth, column, packed);
    else
      packRows<W>(right, begin, depth, column, packed);
    for (int64_t row = first; row < end; row += kTileRows) addTile<W>(left, row, begin, depth, packed, result, column, last);
  }
}

/** Computes left·right, or left·rightᵀ. */
void multiply(const Matrix& left, const Matrix& right, bool transposed, const Matrix& result, const Last& last) {
  const Panels panels(result.columns);
  const int64_t rows = std::max<int64_t>(1, kLeftElements / std::max<int64_t>(1, left.columns) / kTileRows) * kTileRows;
  inParallel(panels.count(), left.rows * left.columns * result.columns / kProductsPerElement, true, [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < left.rows; row += rows) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t width = panels.width(panel);
        const auto compute = width == 1 ? multiplyPanel<1> : width == 2 ? multiplyPanel<2> : multiplyPanel<3>;
        compute(left, row, std::min(row + rows, left.rows), right, transposed, result, panels.column(panel), last);
      }
    }
  });
}

/** Allocates an output. @return null after an error */
float* allocate(TF_OpKernelContext* context, std::initializer_list<int64_t> shape, TF_Status* status) {
  int64_t elements = 1;
  for (const int64_t side : shape) elements *= side;
  TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, shape.begin(), shape.size(), elements * sizeof(float), status);
  if (output == nullptr) return nullptr;
  float* data = static_cast<float*>(TF_TensorData(output));
  TF_DeleteTensor(output);  // TensorFlow holds the memory
  return data;
}

class Dense {
 public:
  static constexpr const char* kName = "RingmasterDense";
  static constexpr const char* kAttributes[] = {"relu: bool", "N: int >= 0"};
  static constexpr const char* kInputs[] = {"x: float", "weights: float", "bias: N * float"};
  static constexpr const char* kOutput = "y: float";

  Dense(TF_OpKernelConstruction* construction, TF_Status* status) {
    TF_OpKernelConstruction_GetAttrBool(construction, "relu", &relu_, status);
  }

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const Matrix x = inputs.matrix(0), weights = inputs.matrix(1);
    const bool isBiased = inputs.count() > 2;
    if (x.columns != weights.rows || (isBiased && inputs.size(2) != weights.columns))
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the factors have different sizes");
    float* y = allocate(context, {x.rows, weights.columns}, status);
    if (y == nullptr) return;
    Last last;
    if (isBiased) last.bias = inputs.data<const float>(2);
    last.relu = relu_ != 0;
    multiply(x, weights, false, {y, x.rows, weights.columns}, last);
  }

 private:
  unsigned char relu_ = 0;
};

class DenseGradient {
 public:
  static constexpr const char* kName = "RingmasterDenseGradient";
  static constexpr const char* kAttributes[] = {"N: int >= 0"};
  static constexpr const char* kInputs[] = {"gradient: float", "weights: float", "outputs: N * float"};
  static constexpr const char* kOutput = "result: float";

  DenseGradient(TF_OpKernelConstruction*, TF_Status*) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const Matrix gradient = inputs.matrix(0), weights = inputs.matrix(1);
    const bool isGated = inputs.count() > 2;
    if (gradient.columns != weights.columns || (isGated && inputs.size(2) != gradient.rows * weights.rows))
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the factors have different sizes");
    float* result = allocate(context, {gradient.rows, weights.rows}, status);
    if (result == nullptr) return;
    Last last;
    if (isGated) last.gate = inputs.data<const float>(2);
    multiply(gradient, weights, true, {result, gradient.rows, weights.rows}, last);
  }
};

/** Where the elements of a tile go. */
struct Place {
  float* data;
  int64_t stride;
  int64_t rows;
  int64_t columns;
};

/** Computes a micro-batch's sums of products for a tile. @tparam Whole whether the place has all elements of a tile */
template <int W, bool Whole>
AVX512 void multiplyTerm(const float* left, const float* right, int64_t rows, const Place& place) {
  __m512 sums[kTileRows][W];
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part) sums[i][part] = _mm512_setzero_ps();
  addProducts<W>(sums, [&](int i, int64_t k) { return left[k * kTileRows + i]; }, right, rows);
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    if (!Whole && i >= place.rows) break;
#pragma GCC unroll 3
    for (int part = 0; part < W; ++part) {
      float* target = place.data + i * place.stride + part * kLanes;
      if (Whole) _mm512_storeu_ps(target, sums[i][part]);  // loads wait for stores with masks
      else _mm512_mask_storeu_ps(target, maskOf(place.columns - part * kLanes), sums[i][part]);
    }
  }
}

/** Adds 2ⁿ registers that are `stride` apart, halves first. */
template <int Terms>
AVX512_INLINE __m512 balancedSum(const float* terms, int64_t stride) {
  if constexpr (Terms == 1) return _mm512_load_ps(terms);
  else
    return _mm512_add_ps(balancedSum<Terms / 2>(terms, stride), balancedSum<Terms / 2>(terms + Terms / 2 * stride, stride));
}

/**
 * Adds the tiles of micro-batches, which have rows of `W` registers. The first tile becomes the sum.
 *
 * @tparam Terms number of tiles if halves are added to each other first, else 0
 */
template <int W, int Terms>
AVX512 void addTiles(float* tiles, int64_t rows, const Additions& additions) {
  const int64_t size = rows * W * kLanes;
  if constexpr (Terms == 0) {
    for (const Addition& each : additions.all())
      for (int64_t i = 0; i < size; i += kLanes) {
        float* into = tiles + each.into * size + i;
        _mm512_store_ps(into, _mm512_add_ps(_mm512_load_ps(into), _mm512_load_ps(tiles + each.from * size + i)));
      }
  } else {
    for (int64_t i = 0; i < size; i += kLanes) _mm512_store_ps(tiles + i, balancedSum<Terms>(tiles + i, size));
  }
}

/** The sum of micro-batches' tiles in the canonical order. */
class TileSum {
 public:
  TileSum(TF_OpKernelConstruction* construction, TF_Status* status) : additions_(construction, status) {
    std::vector<Addition> halves;
    for (int64_t size = 1; size < terms(); size *= 2)
      for (int64_t into = 0; into < terms(); into += 2 * size) halves.push_back({into, into + size});
    isBalanced_ = std::is_permutation(
        halves.begin(), halves.end(), additions_.all().begin(), additions_.all().end(),
        [](const Addition& a, const Addition& b) { return a.into == b.into && a.from == b.from; });
  }

  int64_t terms() const { return additions_.all().size() + 1; }
  bool fits() const { return additions_.fit(terms()); }

  template <int W>
  void add(float* tiles, int64_t rows) const {
    const Subnormals kept(false);  // as in the sums of several workers
    if (isBalanced_ && terms() == 2) return addTiles<W, 2>(tiles, rows, additions_);
    if (isBalanced_ && terms() == 4) return addTiles<W, 4>(tiles, rows, additions_);
    if (isBalanced_ && terms() == 8) return addTiles<W, 8>(tiles, rows, additions_);
    addTiles<W, 0>(tiles, rows, additions_);
  }

 private:
  Additions additions_;
  bool isBalanced_ = false;
};

class ProductSum {
 public:
  static constexpr const char* kName = "RingmasterProductSum";
  static constexpr const char* kAttributes[] = {"additions: list(int)"};
  /** Rows of all micro-batches. */
  static constexpr const char* kInputs[] = {"left: float", "right: float"};
  static constexpr const char* kOutput = "sum: float";

  ProductSum(TF_OpKernelConstruction* construction, TF_Status* status) : sum_(construction, status) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const Matrix left = inputs.matrix(0), right = inputs.matrix(1);
    if (!sum_.fits()) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an addition has no such term");
    if (left.rows != right.rows || left.rows % sum_.terms() != 0)
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the factors have different sizes");
    float* sum = allocate(context, {left.columns, right.columns}, status);
    if (sum == nullptr) return;
    const int64_t blocks = (left.columns + kTileRows - 1) / kTileRows;
    const int64_t products = left.rows * left.columns * right.columns;
    inParallel(blocks, products / kProductsPerElement, true, [&](int64_t first, int64_t end) {
      const float* packedLeft = packLeft(left, first, end);
      const Panels panels(right.columns);
      for (int64_t panel = 0; panel < panels.count(); ++panel) {
        const int64_t width = panels.width(panel);
        const auto compute = width == 1   ? &ProductSum::addPanel<1>
                             : width == 2 ? &ProductSum::addPanel<2>
                                          : &ProductSum::addPanel<3>;
        (this->*compute)(packedLeft, first, end, left, right, panels.column(panel), sum);
      }
    });
  }

 private:
  /** Copies columns of tiles: all rows of a tile, then those of the next. */
  AVX512 static const float* packLeft(const Matrix& left, int64_t first, int64_t end) {
    const int64_t size = left.rows * kTileRows;
    float* packed = scratch<1>((end - first + 1) * size);  // one more, for the second half of the last register
    // Two tiles at a time, because they share a line of the cache.
    for (int64_t block = first; block < end; block += 2) {
      const int64_t column = block * kTileRows;
      const __mmask16 mask = maskOf(left.columns - column);
      float* target = packed + (block - first) * size;
      for (int64_t row = 0; row < left.rows; ++row, target += kTileRows) {
        const __m512 both = _mm512_maskz_loadu_ps(mask, left.data + row * left.columns + column);
        _mm256_store_ps(target, _mm512_castps512_ps256(both));
        _mm256_store_ps(target + size, _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(both), 1)));
      }
    }
    return packed;
  }

  template <int W>
  void addPanel(const float* packedLeft, int64_t first, int64_t end, const Matrix& left, const Matrix& right, int64_t column,
                float* sum) const {
    constexpr int64_t size = kTileRows * W * kLanes;
    const int64_t terms = sum_.terms(), rows = left.rows / terms;
    float* packed = scratch<0>(left.rows * W * kLanes);
    float* tiles = scratch<2>(terms * size);
    packRows<W>(right, 0, right.rows, column, packed);
    for (int64_t block = first; block < end; ++block) {
      const float* factors = packedLeft + (block - first) * left.rows * kTileRows;
      const int64_t row = block * kTileRows;
      const Place result = {sum + row * right.columns + column, right.columns, left.columns - row, right.columns - column};
      if (terms == 1) {
        const bool isWhole = result.rows >= kTileRows && result.columns >= W * kLanes;
        const auto multiply = isWhole ? multiplyTerm<W, true> : multiplyTerm<W, false>;
        multiply(factors, packed, rows, result);
        continue;
      }
      for (int64_t term = 0; term < terms; ++term)
        multiplyTerm<W, true>(factors + term * rows * kTileRows, packed + term * rows * W * kLanes, rows,
                              {tiles + term * size, W * kLanes, kTileRows, W * kLanes});
      sum_.add<W>(tiles, kTileRows);
      for (int64_t i = 0; i < std::min<int64_t>(kTileRows, result.rows); ++i)
        std::copy_n(tiles + i * W * kLanes, std::min<int64_t>(W * kLanes, result.columns), result.data + i * result.stride);
    }
  }

  TileSum sum_;
};

/** Adds rows. A thousand of them are added in parts, which is more precise. */
AVX512 void sumRows(const float* rows, int64_t count, int64_t stride, int64_t columns, float* sum) {
  constexpr int64_t kPart = 32;
  for (int64_t column = 0; column < columns; column += kLanes) {
    const __mmask16 mask = maskOf(columns - column);
    __m512 total = _mm512_setzero_ps();
    for (int64_t begin = 0; begin < count; begin += kPart) {
      __m512 part = _mm512_setzero_ps();
      for (int64_t row = begin; row < std::min(begin + kPart, count); ++row)
        part = _mm512_add_ps(part, _mm512_maskz_loadu_ps(mask, rows + row * stride + column));
      total = _mm512_add_ps(total, part);
    }
    _mm512_mask_storeu_ps(sum + column, mask, total);
  }
}

class ColumnSum {
 public:
  static constexpr const char* kName = "RingmasterColumnSum";
  static constexpr const char* kAttributes[] = {"additions: list(int)"};
  /** Rows of all micro-batches. */
  static constexpr const char* kInputs[] = {"rows: float"};
  static constexpr const char* kOutput = "sum: float";

  ColumnSum(TF_OpKernelConstruction* construction, TF_Status* status) : sum_(construction, status) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const Matrix all = inputs.matrix(0);
    const int64_t terms = sum_.terms(), rows = all.rows / terms;
    if (!sum_.fits()) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an addition has no such term");
    if (all.rows % terms != 0) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the micro-batches have different sizes");
    float* sum = allocate(context, {all.columns}, status);
    if (sum == nullptr) return;
    const int64_t registers = (all.columns + kLanes - 1) / kLanes, stride = registers * kLanes;
    float* memory = scratch<2>(terms * stride);
    {
      const Subnormals areZero(true);
      for (int64_t term = 0; term < terms; ++term)
        sumRows(all.data + term * rows * all.columns, rows, all.columns, all.columns, memory + term * stride);
    }
    if (terms > 1) sum_.add<1>(memory, registers);
    std::copy_n(memory, all.columns, sum);
  }

 private:
  TileSum sum_;
};

const bool registered = __builtin_cpu_supports("avx512f") && registerOperation<Dense>() && registerOperation<DenseGradient>() &&
                        registerOperation<ProductSum>() && registerOperation<ColumnSum>();

}  // namespace
}  // namespace ringmaster
#endif
