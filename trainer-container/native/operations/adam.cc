/**
 * `RingmasterAdam`: norm, clipping, check and Adam of all weights of a model. TensorFlow's own operations pass ten times over
 * the memory of a weight, this one seven times, or six where the gradient is that of an embedding: its rows and their ids
 * suffice, because an element of 0 adds exactly 0 to the norm.
 *
 * The weights and Adam's averages are inputs that share a variable's memory (`ReadVariableOp`), and are changed there. So all other
 * readers of the variables must run before: the gradients and the loss, which are inputs, must depend on them. Numbers below
 * 2⁻¹²⁶ count as 0, because CPUs compute them slowly.
 *
 * `adam` takes the same step as a function of the binding, with the sum of all workers' gradients. As an operation outside of a
 * graph it takes 0.1 ms longer: the code that TensorFlow runs for an operation has left the processor's cache since the last step.
 * `RingmasterHold` keeps the tensors of weights and averages for it.
 */
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include <node_api.h>

#include "operation.h"

namespace ringmaster {
namespace {

/** Elements of a block. Never change it: the norm is summed by blocks. */
constexpr int64_t kBlock = 4096;
/** Running sums of a block. Never change it either. */
constexpr int kLanes = 32;
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

struct Taken {
  /** Norm of the mean gradient before clipping. */
  float norm;
  /** False: norm or loss is not finite, and nothing was changed. */
  bool finite;
};

/** Takes a step with weights whose gradients are known. */
Taken takeStep(const Constants& constants, float loss, const std::vector<Weight>& weights) {
  std::vector<Block> blocks;
  int64_t elements = 0;
  for (const Weight& weight : weights) {
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
  const bool finite = std::isfinite(norm) && std::isfinite(loss);
  if (finite) {
    const float factor = constants.clip > 0 && norm > constants.clip ? constants.clip / norm : 1.0f;
    const float scale = constants.unscaled * factor;
    inParallel(blocks.size(), elements, true, [&](int64_t begin, int64_t end) {
      // Backwards: the last gradients are still in the cache.
      for (int64_t i = end; i-- > begin;) moveBlock(blocks[i], scale, constants);
    });
  }
  return {norm, finite};
}

/** Returns a weight and its averages, which are the tensors `at`, `at + weights` and `at + 2 * weights`. */
Weight weightAt(const Inputs& inputs, int64_t at, int64_t weights) {
  Weight weight = {};
  weight.weight = inputs.data<float>(at);
  weight.first = inputs.data<float>(at + weights);
  weight.second = inputs.data<float>(at + 2 * weights);
  weight.size = inputs.size(at);
  return weight;
}

bool haveEqualSizes(const Inputs& inputs, int64_t at, int64_t weights) {
  return inputs.size(at + weights) == inputs.size(at) && inputs.size(at + 2 * weights) == inputs.size(at);
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

    std::vector<Weight> all;
    int64_t elements = 0;
    for (int64_t i = 0; i < weights_; ++i) {
      const int at = 2 + i;
      if (!haveEqualSizes(inputs, at, weights_))
        return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an average has another size than its weight");
      Weight weight = weightAt(inputs, at, weights_);
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
      elements += weight.size;
      all.push_back(std::move(weight));
    }

    const Taken taken = takeStep(*inputs.data<const Constants>(0), *inputs.data<const float>(1), all);
    const int64_t shape[] = {2};
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, shape, 1, 2 * sizeof(float), status);
    if (output == nullptr) return;
    static_cast<float*>(TF_TensorData(output))[0] = taken.norm;
    static_cast<float*>(TF_TensorData(output))[1] = taken.finite ? 0.0f : 1.0f;
    TF_DeleteTensor(output);
  }

 private:
  int64_t weights_ = 0;
};

/** Tensors of weights and averages by the number that `RingmasterHold` returned. */
std::map<int32_t, std::unique_ptr<Inputs>> held;
std::mutex heldMutex;

class Hold {
 public:
  static constexpr const char* kName = "RingmasterHold";
  static constexpr const char* kAttributes[] = {"N: int >= 1"};
  static constexpr const char* kInputs[] = {"weights: N * float", "first: N * float", "second: N * float"};
  static constexpr const char* kOutput = "number: int32";

  Hold(TF_OpKernelConstruction*, TF_Status*) {}

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    auto inputs = std::make_unique<Inputs>(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const int64_t weights = inputs->count() / 3;
    for (int64_t i = 0; i < weights; ++i)
      if (!haveEqualSizes(*inputs, i, weights))
        return TF_SetStatus(status, TF_INVALID_ARGUMENT, "an average has another size than its weight");
    const int64_t shape[] = {1};
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_INT32, shape, 1, sizeof(int32_t), status);
    if (output == nullptr) return;
    const std::lock_guard<std::mutex> lock(heldMutex);
    static int32_t last = 0;
    held[++last] = std::move(inputs);
    *static_cast<int32_t*>(TF_TensorData(output)) = last;
    TF_DeleteTensor(output);
  }
};

/** Returns the floats of an argument, at least `count`; null: it is no such array. */
const float* floatsOf(napi_env env, napi_value argument, size_t count) {
  bool isArray = false;
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_is_typedarray(env, argument, &isArray) != napi_ok || !isArray) return nullptr;
  if (napi_get_typedarray_info(env, argument, &type, &length, &data, nullptr, nullptr) != napi_ok) return nullptr;
  return type == napi_float32_array && length >= count ? static_cast<const float*>(data) : nullptr;
}

napi_value refuse(napi_env env, const char* why) {
  napi_throw_range_error(env, nullptr, why);
  return nullptr;
}

/** Reads the arguments of a call; those that are missing become `undefined`. @return the first one; 0: it is no number */
template <size_t kCount>
int32_t numberAndRest(napi_env env, napi_callback_info info, napi_value (&given)[kCount]) {
  size_t count = kCount;
  int32_t number = 0;
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  return napi_get_value_int32(env, given[0], &number) == napi_ok ? number : 0;
}

/** `adam(held, constants, sum)`: the norm, or NaN if nothing was changed. */
napi_value callAdam(napi_env env, napi_callback_info info) {
  napi_value given[3];
  const int32_t number = numberAndRest(env, info, given);
  const std::lock_guard<std::mutex> lock(heldMutex);
  if (held.count(number) == 0) return refuse(env, "no tensors are held under this number");
  const Inputs& inputs = *held[number];
  const int64_t weights = inputs.count() / 3;
  std::vector<Weight> all;
  int64_t elements = 0;
  for (int64_t i = 0; i < weights; ++i) {
    all.push_back(weightAt(inputs, i, weights));
    elements += all.back().size;
  }
  const float* constants = floatsOf(env, given[1], sizeof(Constants) / sizeof(float));
  const float* sum = floatsOf(env, given[2], elements);
  if (constants == nullptr || sum == nullptr) return refuse(env, "the constants or the sum are no Float32Array of enough elements");
  for (Weight& weight : all) {
    weight.gradient = sum;
    sum += weight.size;
  }
  // The loss was checked before.
  const Taken taken = takeStep(*reinterpret_cast<const Constants*>(constants), 0, all);
  napi_value norm;
  napi_create_double(env, taken.finite ? taken.norm : std::numeric_limits<double>::quiet_NaN(), &norm);
  return norm;
}

/** `releaseHeld(held)`: twice is the same as once. */
napi_value releaseHeld(napi_env env, napi_callback_info info) {
  napi_value given[1];
  const int32_t number = numberAndRest(env, info, given);
  const std::lock_guard<std::mutex> lock(heldMutex);
  held.erase(number);
  return nullptr;
}

const bool registered = registerOperation<Adam>() && registerOperation<Hold>();

}  // namespace
}  // namespace ringmaster

// The compiler's options give this function the name by which the binding's sources define their exports.
#undef napi_define_properties
extern "C" napi_status napi_define_properties(napi_env, napi_value, size_t, const napi_property_descriptor*);

extern "C" napi_status RingmasterDefineProperties(napi_env env, napi_value exports, size_t count,
                                                  const napi_property_descriptor* properties) {
  if (count > 1) {  // not the constants, which are defined one by one
    const napi_property_descriptor own[] = {
        {"adam", nullptr, ringmaster::callAdam, nullptr, nullptr, nullptr, napi_default, nullptr},
        {"releaseHeld", nullptr, ringmaster::releaseHeld, nullptr, nullptr, nullptr, napi_default, nullptr},
    };
    const napi_status status = napi_define_properties(env, exports, 2, own);
    if (status != napi_ok) return status;
  }
  return napi_define_properties(env, exports, count, properties);
}
