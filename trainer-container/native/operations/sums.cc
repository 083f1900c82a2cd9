/**
 * `RingmasterTreeSum`: a sum in the canonical order, in one pass over memory. TensorFlow adds two terms at a time, and reorders.
 * `RingmasterWrite`: copies tensors one after the other to the memory of another one. TensorFlow concatenates, and then copies.
 */
#include <cstring>

#include "additions.h"

namespace ringmaster {
namespace {

FOR_EACH_CPU void addInto(const float* left, const float* right, float* sum, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] = left[i] + right[i];
}

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
        for (const Addition& each : additions_.all()) {
          const bool isLast = &each == &additions_.all().back();
          float* target = isLast ? sum + begin : memory.data() + each.into * kSumBlock;
          addInto(places[each.into], places[each.from], target, std::min(kSumBlock, elements - begin));
          places[each.into] = target;
        }
      }
    });
    TF_DeleteTensor(output);
  }

 private:
  /** Elements that are added at a time, in the cache. */
  static constexpr int64_t kSumBlock = 1024;
  Additions additions_;
};

class Write {
 public:
  static constexpr const char* kName = "RingmasterWrite";
  static constexpr const char* kAttributes[] = {"N: int >= 1"};
  static constexpr const char* kInputs[] = {"into: float", "parts: N * float"};
  /** `into`. */
  static constexpr const char* kOutput = "written: float";

  Write(TF_OpKernelConstruction*, TF_Status*) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    int64_t left = inputs.size(0);
    float* into = inputs.data<float>(0);
    for (int i = 1; i < inputs.count(); ++i) {
      const int64_t size = inputs.size(i);
      if (size > left) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the parts have more elements than the memory");
      if (size > 0) std::memcpy(into, inputs.data<const float>(i), size * sizeof(float));
      into += size;
      left -= size;
    }
    TF_SetOutput(context, 0, inputs.tensor(0), status);
  }
};

const bool registered = registerOperation<TreeSum>() && registerOperation<Write>();

}  // namespace
}  // namespace ringmaster
