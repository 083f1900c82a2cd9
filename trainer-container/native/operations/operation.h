/**
 * What operations of TensorFlow's C API for a CPU have in common.
 *
 * Their bits depend neither on the number of threads nor on the width of registers: sums have a fixed order, and the compiler
 * must not contract a product and a sum (`-ffp-contract=off`).
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
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

namespace ringmaster {

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
  const TF_Tensor* tensor(int i) const { return all_[i]; }
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
inline void inParallel(int64_t blocks, int64_t elements, bool flush, const std::function<void(int64_t, int64_t)>& compute) {
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

}  // namespace ringmaster
