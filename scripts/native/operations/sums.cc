/**
 * `RingmasterTreeSum`: a sum in the canonical order, in one pass over memory. TensorFlow adds two terms at a time, and reorders.
 *
 * `RingmasterProductSum`: such a sum of products leftᵀ·right, e.g. of a weight's gradients, whose terms are never in memory as a
 * whole. Exists on CPUs with AVX-512. The bits of a product are those of TensorFlow if that adds in the order of the rows, too;
 * the caller compares them.
 */
#include "operation.h"

namespace ringmaster {
namespace {

FOR_EACH_CPU void addInto(const float* left, const float* right, float* sum, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] = left[i] + right[i];
}

/** The additions of a sum in the canonical order. */
class Additions {
 public:
  /** Reads the attribute `additions`: of each, the places `into` and `from`. The last one gives the sum. */
  Additions(TF_OpKernelConstruction* construction, TF_Status* status) {
    int32_t length = 0, bytes = 0;
    TF_OpKernelConstruction_GetAttrSize(construction, "additions", &length, &bytes, status);
    if (TF_GetCode(status) != TF_OK) return;
    places_.resize(length);
    TF_OpKernelConstruction_GetAttrInt64List(construction, "additions", places_.data(), length, status);
  }

  bool fit(int64_t terms) const {
    return std::all_of(places_.begin(), places_.end(), [&](int64_t place) { return place >= 0 && place < terms; });
  }

  /** @param terms changes @param memory of intermediate sums, `stride` elements for each term; may contain the terms */
  void add(std::vector<const float*>& terms, float* memory, int64_t stride, float* sum, int64_t count) const {
    for (size_t i = 0; i + 1 < places_.size(); i += 2) {
      const int64_t into = places_[i];
      float* target = i + 2 == places_.size() ? sum : memory + into * stride;
      addInto(terms[into], terms[places_[i + 1]], target, count);
      terms[into] = target;
    }
  }

 private:
  std::vector<int64_t> places_;
};

class TreeSum {
 public:
  static constexpr const char* kName = "RingmasterTreeSum";
  static constexpr const char* kAttributes[] = {"N: int >= 2", "additions: list(int)"};
  static constexpr const char* kInputs[] = {"terms: N * float"};
  static constexpr const char* kOutput = "sum: float";

  TreeSum(TF_OpKernelConstruction* construction, TF_Status* status) : additions_(construction, status) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const int64_t terms = inputs.count(), elements = inputs.size(0);
    if (!additions_.fit(terms)) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an addition has no such term");
    for (int64_t i = 1; i < terms; ++i)
      if (inputs.size(i) != elements) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the terms have different sizes");
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, &elements, 1, elements * sizeof(float), status);
    if (output == nullptr) return;
    float* sum = static_cast<float*>(TF_TensorData(output));
    const int64_t blocks = (elements + kSumBlock - 1) / kSumBlock;
    inParallel(blocks, elements * terms, false, [&](int64_t first, int64_t end) {
      std::vector<float> memory(terms * kSumBlock);
      std::vector<const float*> places(terms);
      for (int64_t block = first; block < end; ++block) {
        const int64_t begin = block * kSumBlock;
        for (int64_t i = 0; i < terms; ++i) places[i] = inputs.data<const float>(i) + begin;
        additions_.add(places, memory.data(), kSumBlock, sum + begin, std::min(kSumBlock, elements - begin));
      }
    });
    TF_DeleteTensor(output);
  }

 private:
  /** Elements that are added at a time, in the cache. */
  static constexpr int64_t kSumBlock = 1024;
  Additions additions_;
};

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
/** Columns of a tile: four registers. */
constexpr int64_t kTileColumns = 64;
constexpr int64_t kTileRows = 4;

/**
 * Computes a tile of leftᵀ·right. Each element adds its products in the order of the rows, each with one rounding.
 *
 * @param packed the tile's columns of `right`, row by row
 */
template <int Rows>
__attribute__((target("avx512f"))) void multiplyTile(const Matrix& left, const float* packed, int64_t row, float* tile) {
  __m512 sums[Rows][4];
  for (int i = 0; i < Rows; ++i)
    for (int part = 0; part < 4; ++part) sums[i][part] = _mm512_setzero_ps();
  const float* factors = left.data + row;
  for (int64_t k = 0; k < left.rows; ++k, factors += left.columns, packed += kTileColumns) {
    __m512 loaded[4];
    for (int part = 0; part < 4; ++part) loaded[part] = _mm512_loadu_ps(packed + 16 * part);
    for (int i = 0; i < Rows; ++i) {
      const __m512 factor = _mm512_set1_ps(factors[i]);
      for (int part = 0; part < 4; ++part) sums[i][part] = _mm512_fmadd_ps(factor, loaded[part], sums[i][part]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int part = 0; part < 4; ++part) _mm512_storeu_ps(tile + i * kTileColumns + 16 * part, sums[i][part]);
}

void multiplyTile(int64_t rows, const Matrix& left, const float* packed, int64_t row, float* tile) {
  if (rows == 4) return multiplyTile<4>(left, packed, row, tile);
  if (rows == 3) return multiplyTile<3>(left, packed, row, tile);
  if (rows == 2) return multiplyTile<2>(left, packed, row, tile);
  return multiplyTile<1>(left, packed, row, tile);
}

class ProductSum {
 public:
  static constexpr const char* kName = "RingmasterProductSum";
  static constexpr const char* kAttributes[] = {"N: int >= 2", "additions: list(int)"};
  static constexpr const char* kInputs[] = {"left: N * float", "right: N * float"};
  static constexpr const char* kOutput = "sum: float";

  ProductSum(TF_OpKernelConstruction* construction, TF_Status* status) : additions_(construction, status) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const int64_t terms = inputs.count() / 2;
    if (!additions_.fit(terms)) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an addition has no such term");
    std::vector<Matrix> left, right;
    for (int64_t i = 0; i < terms; ++i) {
      left.push_back(inputs.matrix(i));
      right.push_back(inputs.matrix(terms + i));
      if (left[i].rows != left[0].rows || right[i].rows != left[0].rows || left[i].columns != left[0].columns || right[i].columns != right[0].columns)
        return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the factors have different sizes");
    }
    const int64_t rows = left[0].columns, columns = right[0].columns, elements = rows * columns;
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, &elements, 1, elements * sizeof(float), status);
    if (output == nullptr) return;
    float* sum = static_cast<float*>(TF_TensorData(output));
    const int64_t blocks = (rows + kTileRows - 1) / kTileRows;
    inParallel(blocks, elements * terms, false, [&](int64_t first, int64_t end) {
      constexpr int64_t size = kTileRows * kTileColumns;
      std::vector<float> memory(terms * size), total(size);
      std::vector<const float*> places(terms);
      // Rows of a matrix often have an equal place in the cache, and would displace each other.
      const int64_t packedSize = left[0].rows * kTileColumns;
      std::vector<float> packed(terms * packedSize);
      for (int64_t column = 0; column < columns; column += kTileColumns) {
        const int64_t width = std::min(kTileColumns, columns - column);
        for (int64_t i = 0; i < terms; ++i)
          for (int64_t k = 0; k < left[0].rows; ++k)
            std::copy_n(right[i].data + k * columns + column, width, packed.data() + i * packedSize + k * kTileColumns);
        for (int64_t block = first; block < end; ++block) {
          const int64_t row = block * kTileRows, height = std::min(kTileRows, rows - row);
          for (int64_t i = 0; i < terms; ++i) places[i] = memory.data() + i * size;
          {
            const Subnormals areZero(true);  // as in TensorFlow's products
            for (int64_t i = 0; i < terms; ++i)
              multiplyTile(height, left[i], packed.data() + i * packedSize, row, memory.data() + i * size);
          }
          additions_.add(places, memory.data(), size, total.data(), height * kTileColumns);
          for (int64_t i = 0; i < height; ++i)
            std::copy_n(total.data() + i * kTileColumns, width, sum + (row + i) * columns + column);
        }
      }
    });
    TF_DeleteTensor(output);
  }

 private:
  Additions additions_;
};
#endif

const bool registered = [] {
  bool done = registerOperation<TreeSum>();
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) done = registerOperation<ProductSum>() && done;
#endif
  return done;
}();

}  // namespace
}  // namespace ringmaster
