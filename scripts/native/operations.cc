/**
 * Operations of ours for a CPU, by TensorFlow's C API.
 *
 * Their bits depend neither on the number of threads nor on the width of registers: sums have a fixed order, and the compiler
 * must not contract a product and a sum (`-ffp-contract=off`).
 *
 * `RingmasterAdam`: norm, clipping, check and Adam of all weights of a model. TensorFlow's own operations pass ten times over
 * the memory of a weight, this one seven times, or six where the gradient is that of an embedding: its rows and their ids
 * suffice, because an element of 0 adds exactly 0 to the norm. The weights and moments are inputs that share a variable's
 * memory (`ReadVariableOp`), and are changed there. So all other readers of the variables must run before: the gradients and
 * the loss, which are inputs, must depend on them. Numbers below 2⁻¹²⁶ count as 0, because CPUs compute them slowly.
 *
 * `RingmasterTreeSum`: a sum in the canonical order, in one pass over memory. TensorFlow adds two terms at a time, and reorders.
 *
 * `RingmasterProductSum`: such a sum of products leftᵀ·right, e.g. of a weight's gradients, whose terms are never in memory as a
 * whole. Exists on CPUs with AVX-512. The bits of a product are those of TensorFlow if that adds in the order of the rows, too;
 * the caller compares them.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Compiles a function for several instruction sets; the processor's is chosen when the library is loaded.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((noinline, target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU __attribute__((noinline))
#endif

namespace {

/** Elements of a block. Never change it: the norm is summed by blocks. */
constexpr int64_t kBlock = 4096;
/** Running sums of a block. Never change it either. */
constexpr int kLanes = 32;
/** A thread must have this many elements, or it takes longer to start than to compute. */
constexpr int64_t kElementsPerThread = 1 << 18;

/** Decides while it lives whether subnormal numbers count as 0. */
class Subnormals {
 public:
#if defined(__x86_64__)
  explicit Subnormals(bool zero) : before_(_mm_getcsr()) {
    _mm_setcsr(zero ? before_ | kFlushAndZero : before_ & ~kFlushAndZero);
  }
  ~Subnormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushAndZero = 0x8040;
  unsigned before_;
#elif defined(__aarch64__)
  explicit Subnormals(bool zero) {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    const uint64_t flush = 1ull << 24;
    asm volatile("msr fpcr, %0" ::"r"(zero ? before_ | flush : before_ & ~flush));
  }
  ~Subnormals() { asm volatile("msr fpcr, %0" ::"r"(before_)); }

 private:
  uint64_t before_;
#endif
};

/** The vector of `updateConstants` in `trainer-container/engine/graph/update.ts`. */
struct Constants {
  float unscaled, mean, rate, epsilon, decay, keep1, keep2, penalty, clip;
};

struct Weight {
  float* weight;
  float* first;
  float* second;
  int64_t size;
  /** All elements of the gradient. Null: it is that of `rows`. */
  const float* gradient;
  /** Elements of a row. */
  int64_t width;
  /** Rows that have a gradient, ascending, and their sums. */
  std::vector<int64_t> rows;
  std::vector<float> sums;
};

/** A part of a weight. */
struct Block {
  const Weight* of;
  int64_t begin;
  int64_t end;
};

FOR_EACH_CPU void addSquares(const float* values, int64_t count, double* lanes) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (int lane = 0; i + lane < count; ++lane) {
    const double value = values[i + lane];
    lanes[lane] += value * value;
  }
}

FOR_EACH_CPU void move(float* __restrict w, float* __restrict m, float* __restrict v, const float* __restrict gradient,
                       int64_t count, float scale, const Constants& c) {
  const auto [unscaled, mean, rate, epsilon, decay, keep1, keep2, penalty, clip] = c;
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * scale + penalty * w[i];
    const float first = m[i] + keep1 * (g - m[i]);
    const float second = v[i] + keep2 * (g * g - v[i]);
    m[i] = first;
    v[i] = second;
    w[i] = w[i] - (decay * w[i] + rate * first / (std::sqrt(second) + epsilon));
  }
}

/** As `move` with a gradient of 0. */
FOR_EACH_CPU void moveOn(float* __restrict w, float* __restrict m, float* __restrict v, int64_t count, const Constants& c) {
  const auto [unscaled, mean, rate, epsilon, decay, keep1, keep2, penalty, clip] = c;
  for (int64_t i = 0; i < count; ++i) {
    const float g = 0.0f + penalty * w[i];
    const float first = m[i] + keep1 * (g - m[i]);
    const float second = v[i] + keep2 * (g * g - v[i]);
    m[i] = first;
    v[i] = second;
    w[i] = w[i] - (decay * w[i] + rate * first / (std::sqrt(second) + epsilon));
  }
}

/** Calls `visit(begin, end, gradient)` for the parts of a block that have a gradient, and for the others with null. */
template <typename Visit>
void forEachPart(const Block& block, Visit visit) {
  const Weight& weight = *block.of;
  if (weight.gradient != nullptr) return visit(block.begin, block.end, weight.gradient + block.begin);
  const int64_t width = weight.width;
  int64_t at = block.begin;
  auto row = std::lower_bound(weight.rows.begin(), weight.rows.end(), block.begin / width);
  for (; row != weight.rows.end() && *row * width < block.end; ++row) {
    const int64_t begin = std::max(block.begin, *row * width);
    const int64_t end = std::min(block.end, (*row + 1) * width);
    if (at < begin) visit(at, begin, static_cast<const float*>(nullptr));
    visit(begin, end, weight.sums.data() + (row - weight.rows.begin()) * width + (begin - *row * width));
    at = end;
  }
  if (at < block.end) visit(at, block.end, static_cast<const float*>(nullptr));
}

double squaresOf(const Block& block) {
  double lanes[kLanes] = {};
  forEachPart(block, [&](int64_t begin, int64_t end, const float* gradient) {
    if (gradient == nullptr) return;
    const int64_t first = (begin - block.begin) % kLanes;
    if (first == 0) return addSquares(gradient, end - begin, lanes);
    for (int64_t i = begin; i < end; ++i) {
      const double value = gradient[i - begin];
      lanes[(i - block.begin) % kLanes] += value * value;
    }
  });
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

void moveBlock(const Block& block, float scale, const Constants& constants) {
  const Weight& of = *block.of;
  forEachPart(block, [&](int64_t begin, int64_t end, const float* gradient) {
    float *w = of.weight + begin, *m = of.first + begin, *v = of.second + begin;
    if (gradient == nullptr) return moveOn(w, m, v, end - begin, constants);
    move(w, m, v, gradient, end - begin, scale, constants);
  });
}

/** Adds the gradients of equal ids in their order, as `UnsortedSegmentSum` does. @return false: an id is out of range */
bool addRows(Weight& weight, const float* gradient, const int32_t* ids, int64_t count, int64_t width) {
  const int64_t rows = weight.size / width;
  std::vector<int32_t> slots(rows, -1);
  weight.width = width;
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= rows) return false;
    if (ids[i] < 0 || slots[ids[i]] >= 0) continue;
    slots[ids[i]] = 0;
    weight.rows.push_back(ids[i]);
  }
  std::sort(weight.rows.begin(), weight.rows.end());
  for (size_t slot = 0; slot < weight.rows.size(); ++slot) slots[weight.rows[slot]] = static_cast<int32_t>(slot);
  weight.sums.assign(weight.rows.size() * width, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] < 0) continue;
    float* sum = weight.sums.data() + slots[ids[i]] * width;
    for (int64_t k = 0; k < width; ++k) sum[k] += gradient[i * width + k];
  }
  return true;
}

/** A matrix with contiguous rows. */
struct Matrix {
  const float* data;
  int64_t rows;
  int64_t columns;
};

/** The input tensors of a call; they live as long as this object. */
class Inputs {
 public:
  explicit Inputs(TF_OpKernelContext* context, TF_Status* status) : all_(TF_NumInputs(context), nullptr) {
    for (size_t i = 0; i < all_.size() && TF_GetCode(status) == TF_OK; ++i) TF_GetInput(context, i, &all_[i], status);
  }
  ~Inputs() {
    for (TF_Tensor* tensor : all_)
      if (tensor != nullptr) TF_DeleteTensor(tensor);
  }
  int64_t count() const { return all_.size(); }
  int64_t size(int i) const { return TF_TensorElementCount(all_[i]); }
  /** Returns an input of two axes. */
  Matrix matrix(int i) const {
    const bool isMatrix = TF_NumDims(all_[i]) == 2;
    return {data<const float>(i), isMatrix ? TF_Dim(all_[i], 0) : 0, isMatrix ? TF_Dim(all_[i], 1) : 0};
  }
  template <typename T>
  T* data(int i) const {
    return static_cast<T*>(TF_TensorData(all_[i]));
  }

 private:
  std::vector<TF_Tensor*> all_;
};

/**
 * Calls `compute(begin, end)` for parts of the blocks from 0 to `blocks`. The C API gives no access to TensorFlow's threads, so it
 * starts as many of its own.
 */
void inParallel(int64_t blocks, int64_t elements, bool flush, const std::function<void(int64_t, int64_t)>& compute) {
  const char* threads = std::getenv("TF_NUM_INTRAOP_THREADS");
  const int64_t available = threads == nullptr ? 1 : std::atoi(threads);
  const int64_t parts = std::max<int64_t>(1, std::min(available, elements / kElementsPerThread));
  const auto part = [&](int64_t index) {
    const Subnormals subnormals(flush);
    compute(blocks * index / parts, blocks * (index + 1) / parts);
  };
  std::vector<std::thread> others;
  for (int64_t index = 1; index < parts; ++index) others.emplace_back(part, index);
  part(0);
  for (std::thread& other : others) other.join();
}

class Adam {
 public:
  static constexpr const char* kName = "RingmasterAdam";
  static constexpr const char* kAttributes[] = {"N: int >= 1", "G: int >= 1"};
  static constexpr const char* kInputs[] = {"constants: float",  "loss: float",          "weights: N * float", "first: N * float",
                                            "second: N * float", "gradients: G * float", "ids: N * int32"};
  static constexpr const char* kOutput = "taken: float";

  Adam(TF_OpKernelConstruction* construction, TF_Status* status) {
    TF_OpKernelConstruction_GetAttrInt64(construction, "N", &weights_, status);
  }

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const int gradients = 2 + 3 * weights_;
    const int ids = inputs.count() - weights_;
    const bool isFlat = ids - gradients == 1;
    if (inputs.size(0) * sizeof(float) != sizeof(Constants))
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "wrong number of constants");
    const Constants& constants = *inputs.data<const Constants>(0);

    std::vector<Weight> all(weights_);
    std::vector<Block> blocks;
    int64_t elements = 0;
    for (int64_t i = 0; i < weights_; ++i) {
      Weight& weight = all[i];
      const int at = 2 + i;
      weight.size = inputs.size(at);
      weight.weight = inputs.data<float>(at);
      weight.first = inputs.data<float>(at + weights_);
      weight.second = inputs.data<float>(at + 2 * weights_);
      if (inputs.size(at + weights_) != weight.size || inputs.size(at + 2 * weights_) != weight.size)
        return TF_SetStatus(status, TF_INVALID_ARGUMENT, "a moment has another size than its weight");
      const int64_t rows = inputs.size(ids + i);
      const int gradient = isFlat ? gradients : gradients + i;
      const int64_t available = inputs.size(gradient);
      const float* values = inputs.data<const float>(gradient);
      if (rows > 0) {
        if (!addRows(weight, values, inputs.data<const int32_t>(ids + i), rows, available / rows))
          return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the id of a row is out of range");
      } else {
        const int64_t begin = isFlat ? elements : 0;
        if (available < begin + weight.size)
          return TF_SetStatus(status, TF_INVALID_ARGUMENT, "a gradient is shorter than its weight");
        weight.gradient = values + begin;
      }
      for (int64_t begin = 0; begin < weight.size; begin += kBlock)
        blocks.push_back({&weight, begin, std::min(begin + kBlock, weight.size)});
      elements += weight.size;
    }

    std::vector<double> squares(blocks.size());
    inParallel(blocks.size(), elements, true, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) squares[i] = squaresOf(blocks[i]);
    });
    double sum = 0;
    for (const double each : squares) sum += each;
    const float norm = static_cast<float>(std::sqrt(sum) * constants.unscaled);
    const bool finite = std::isfinite(norm) && std::isfinite(*inputs.data<const float>(1));
    if (finite) {
      const float factor = constants.clip > 0 && norm > constants.clip ? constants.clip / norm : 1.0f;
      const float scale = constants.unscaled * factor;
      inParallel(blocks.size(), elements, true, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) moveBlock(blocks[i], scale, constants);
      });
    }
    const int64_t shape[] = {2};
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, shape, 1, 2 * sizeof(float), status);
    if (output == nullptr) return;
    static_cast<float*>(TF_TensorData(output))[0] = norm;
    static_cast<float*>(TF_TensorData(output))[1] = finite ? 0.0f : 1.0f;
    TF_DeleteTensor(output);
  }

 private:
  int64_t weights_ = 0;
};

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

/** Computes a tile of leftᵀ·right. Each element adds its products in the order of the rows, each with one rounding. */
template <int Rows>
__attribute__((target("avx512f"))) void multiplyTile(const Matrix& left, const Matrix& right, int64_t row, int64_t column,
                                                     int64_t columns, float* tile) {
  __mmask16 masks[4];
  for (int64_t part = 0; part < 4; ++part) {
    const int64_t count = std::max<int64_t>(0, std::min<int64_t>(16, columns - 16 * part));
    masks[part] = static_cast<__mmask16>((1u << count) - 1);
  }
  __m512 sums[Rows][4];
  for (int i = 0; i < Rows; ++i)
    for (int part = 0; part < 4; ++part) sums[i][part] = _mm512_setzero_ps();
  const float* factors = left.data + row;
  const float* values = right.data + column;
  for (int64_t k = 0; k < left.rows; ++k, factors += left.columns, values += right.columns) {
    __m512 loaded[4];
    for (int part = 0; part < 4; ++part) loaded[part] = _mm512_maskz_loadu_ps(masks[part], values + 16 * part);
    for (int i = 0; i < Rows; ++i) {
      const __m512 factor = _mm512_set1_ps(factors[i]);
      for (int part = 0; part < 4; ++part) sums[i][part] = _mm512_fmadd_ps(factor, loaded[part], sums[i][part]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int part = 0; part < 4; ++part) _mm512_storeu_ps(tile + i * kTileColumns + 16 * part, sums[i][part]);
}

void multiplyTile(int64_t rows, const Matrix& left, const Matrix& right, int64_t row, int64_t column, int64_t columns,
                  float* tile) {
  if (rows == 4) return multiplyTile<4>(left, right, row, column, columns, tile);
  if (rows == 3) return multiplyTile<3>(left, right, row, column, columns, tile);
  if (rows == 2) return multiplyTile<2>(left, right, row, column, columns, tile);
  return multiplyTile<1>(left, right, row, column, columns, tile);
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
      if (left[i].rows != right[i].rows || left[i].columns != left[0].columns || right[i].columns != right[0].columns)
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
      for (int64_t column = 0; column < columns; column += kTileColumns) {
        const int64_t width = std::min(kTileColumns, columns - column);
        for (int64_t block = first; block < end; ++block) {
          const int64_t row = block * kTileRows, height = std::min(kTileRows, rows - row);
          for (int64_t i = 0; i < terms; ++i) places[i] = memory.data() + i * size;
          {
            const Subnormals areZero(true);  // as in TensorFlow's products
            for (int64_t i = 0; i < terms; ++i)
              multiplyTile(height, left[i], right[i], row, column, width, memory.data() + i * size);
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

template <typename Operation>
void* create(TF_OpKernelConstruction* construction) {
  TF_Status* status = TF_NewStatus();
  Operation* operation = new Operation(construction, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  TF_DeleteStatus(status);
  return operation;
}

template <typename Operation>
void compute(void* operation, TF_OpKernelContext* context) {
  TF_Status* status = TF_NewStatus();
  static_cast<const Operation*>(operation)->compute(context, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

template <typename Operation>
void destroy(void* operation) {
  delete static_cast<Operation*>(operation);
}

template <typename Operation>
bool registerOperation() {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(Operation::kName);
  for (const char* attribute : Operation::kAttributes) TF_OpDefinitionBuilderAddAttr(op, attribute);
  for (const char* input : Operation::kInputs) TF_OpDefinitionBuilderAddInput(op, input);
  TF_OpDefinitionBuilderAddOutput(op, Operation::kOutput);
  TF_OpDefinitionBuilderSetIsStateful(op, true);  // TensorFlow must not change or join these nodes
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, TF_ShapeInferenceContextSetUnknownShape);
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_KernelBuilder* kernel =
        TF_NewKernelBuilder(Operation::kName, "CPU", create<Operation>, compute<Operation>, destroy<Operation>);
    TF_RegisterKernelBuilder(Operation::kName, kernel, status);
  }
  const bool done = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return done;
}

/** Registers the operations when the library is loaded. */
const bool registered = [] {
  bool done = registerOperation<Adam>() && registerOperation<TreeSum>();
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) done = registerOperation<ProductSum>() && done;
#endif
  return done;
}();

}  // namespace
