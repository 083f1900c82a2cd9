/**
 * Options of the sessions that the binding opens. The compiler's options give this function the name by which the binding's sources
 * call `TF_NewSessionOptions`.
 *
 * TensorFlow's graph optimizer is off if RINGMASTER_GRAPH_OPTIMIZER is `off`, which the trainer sets on a CPU. Its own rewrites
 * (`trainer-container/engine/graph/rewrites`) do the work there, and the optimizer took up to 90 % of a graph's first run: 6 of 9
 * seconds for eight micro-batches of an unrolled LSTM. The speed of the steps is the same.
 */
#include <cstdlib>
#include <cstring>

#include <tensorflow/c/c_api.h>

#undef TF_NewSessionOptions
extern "C" TF_SessionOptions* TF_NewSessionOptions(void);

extern "C" TF_SessionOptions* RingmasterNewSessionOptions(void) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* optimizer = std::getenv("RINGMASTER_GRAPH_OPTIMIZER");
  if (optimizer == nullptr || std::strcmp(optimizer, "off") != 0) return options;
  // A ConfigProto: graph_options (10), in it rewrite_options (10), in it disable_meta_optimizer (19) = true.
  static const unsigned char config[] = {0x52, 5, 0x52, 3, 0x98, 0x01, 1};
  TF_Status* status = TF_NewStatus();
  TF_SetConfig(options, config, sizeof(config), status);
  TF_DeleteStatus(status);
  return options;
}
