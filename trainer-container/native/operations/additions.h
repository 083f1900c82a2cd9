/** The additions of a sum in the canonical order (`trainer-container/reduction/plan.ts`). */
#pragma once

#include "operation.h"

namespace ringmaster {

/** An addition of two sums, by the places of their first terms; the first one becomes their sum. */
struct Addition {
  int64_t into;
  int64_t from;
};

class Additions {
 public:
  /** Reads the attribute `additions`: of each, the places `into` and `from`. The last one gives the sum. */
  Additions(TF_OpKernelConstruction* construction, TF_Status* status) {
    int32_t length = 0, bytes = 0;
    TF_OpKernelConstruction_GetAttrSize(construction, "additions", &length, &bytes, status);
    if (TF_GetCode(status) != TF_OK) return;
    std::vector<int64_t> places(length);
    TF_OpKernelConstruction_GetAttrInt64List(construction, "additions", places.data(), length, status);
    for (size_t i = 0; i + 1 < places.size(); i += 2) all_.push_back({places[i], places[i + 1]});
  }

  const std::vector<Addition>& all() const { return all_; }

  bool fit(int64_t terms) const {
    return std::all_of(all_.begin(), all_.end(), [&](const Addition& each) {
      return std::min(each.into, each.from) >= 0 && std::max(each.into, each.from) < terms;
    });
  }

 private:
  std::vector<Addition> all_;
};

}  // namespace ringmaster
