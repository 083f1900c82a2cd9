/**
 * `RingmasterMaxPoolGrad`: the gradient of a maximum over windows that do not overlap and cover the image, on request times that of
 * the ReLU before it. TensorFlow's takes 180 to 500 µs for the same 3 MB, depending on where the memory lies, and 100 for ReLU's.
 */
#include "operation.h"

namespace ringmaster {
namespace {

struct Windows {
  int64_t height;
  int64_t width;
  int64_t channels;
  /** Elements of a row of the image. */
  int64_t stride;
  bool relu;
};

/** Numbers of several channels. They may begin at any element. */
template <int kChannels>
struct Lanes {
  typedef float Floats __attribute__((vector_size(kChannels * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t Bits __attribute__((vector_size(kChannels * sizeof(float))));
};

/** Of equal elements the first one has the gradient. */
template <int kChannels>
__attribute__((always_inline)) inline void window(const float* x, const float* y, const float* dy, float* dx, const Windows& of) {
  typedef typename Lanes<kChannels>::Floats Floats;
  typedef typename Lanes<kChannels>::Bits Bits;
  const Floats maximum = *reinterpret_cast<const Floats*>(y);
  const Floats gradient = *reinterpret_cast<const Floats*>(dy);
  const Floats zero = {};
  Bits left = (Bits)gradient;  // the same bits as another type
  if (of.relu) left &= maximum > zero;
  for (int64_t row = 0; row < of.height; ++row) {
    for (int64_t column = 0; column < of.width; ++column) {
      const int64_t at = row * of.stride + column * of.channels;
      const Floats element = *reinterpret_cast<const Floats*>(x + at);
      const Bits others = element < maximum;
      // Adds to 0, as TensorFlow does for most numbers of channels: a gradient of -0 becomes 0.
      *reinterpret_cast<Floats*>(dx + at) = (Floats)(left & ~others) + zero;
      left &= others;
    }
  }
}

/** Computes the windows of one row of the result. */
FOR_EACH_CPU void windowsOfRow(const float* x, const float* y, const float* dy, float* dx, int64_t count, const Windows& of) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = 0;
    for (; channel + 16 <= of.channels; channel += 16) window<16>(x + channel, y + channel, dy + channel, dx + channel, of);
    for (; channel + 8 <= of.channels; channel += 8) window<8>(x + channel, y + channel, dy + channel, dx + channel, of);
    for (; channel < of.channels; ++channel) window<1>(x + channel, y + channel, dy + channel, dx + channel, of);
    x += of.width * of.channels;
    dx += of.width * of.channels;
    y += of.channels;
    dy += of.channels;
  }
}

class MaxPoolGrad {
 public:
  static constexpr const char* kName = "RingmasterMaxPoolGrad";
  /** Height and width of a window. */
  static constexpr const char* kAttributes[] = {"height: int >= 1", "width: int >= 1", "relu: bool"};
  /** Input and output of the maximum, `[batch, rows, columns, channels]`, and the output's gradient. */
  static constexpr const char* kInputs[] = {"x: float", "y: float", "dy: float"};
  static constexpr const char* kOutput = "dx: float";

  MaxPoolGrad(TF_OpKernelConstruction* construction, TF_Status* status) {
    TF_OpKernelConstruction_GetAttrInt64(construction, "height", &height_, status);
    if (TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrInt64(construction, "width", &width_, status);
    unsigned char relu = 0;
    if (TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrBool(construction, "relu", &relu, status);
    relu_ = relu != 0;
  }

  void compute(TF_OpKernelContext* context, TF_Status* status) const {
    const Inputs inputs(context, status);
    if (TF_GetCode(status) != TF_OK) return;
    const TF_Tensor* image = inputs.tensor(0);
    if (TF_NumDims(image) != 4) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "x has not four axes");
    int64_t shape[4];
    for (int axis = 0; axis < 4; ++axis) shape[axis] = TF_Dim(image, axis);
    const auto [batch, rows, columns, channels] = shape;
    const int64_t results = batch * (rows / height_) * (columns / width_) * channels;
    if (rows % height_ != 0 || columns % width_ != 0 || inputs.size(1) != results || inputs.size(2) != results)
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the windows do not cover x, or y or dy has another size");
    const int64_t elements = inputs.size(0);
    TF_Tensor* output = TF_AllocateOutput(context, 0, TF_FLOAT, shape, 4, elements * sizeof(float), status);
    if (output == nullptr) return;
    const Windows of = {height_, width_, channels, columns * channels, relu_};
    const int64_t count = columns / width_;
    float* dx = static_cast<float*>(TF_TensorData(output));
    inParallel(batch * (rows / height_), elements, false, [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        const int64_t from = row * height_ * of.stride, at = row * count * channels;
        windowsOfRow(inputs.data<const float>(0) + from, inputs.data<const float>(1) + at, inputs.data<const float>(2) + at,
                     dx + from, count, of);
      }
    });
    TF_DeleteTensor(output);
  }

 private:
  int64_t height_ = 1;
  int64_t width_ = 1;
  bool relu_ = false;
};

const bool registered = registerOperation<MaxPoolGrad>();

}  // namespace
}  // namespace ringmaster
