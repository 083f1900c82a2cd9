/**
 * Loads a binding and multiplies two matrices, in a process of its own: a binding that does not fit the machine (a missing
 * library, an instruction the CPU lacks) may take its process down. `node probe.js <binding>` prints TensorFlow's version.
 */
const { run } = require("./run");

/** @returns {Promise<string>} TensorFlow's version. @throws Error saying why the binding does not work. */
async function probe(binding, deadline) {
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: "3" };
  return (await run(process.execPath, [__filename, binding], { deadline, env })).trim();
}

function main(file) {
  const binding = require(file);
  const tensor = binding.createTensor([2, 2], binding.TF_FLOAT, new Float32Array([1, 2, 3, 4]));
  const attributes = [
    { name: "transpose_a", type: binding.TF_ATTR_BOOL, value: false },
    { name: "transpose_b", type: binding.TF_ATTR_BOOL, value: false },
    { name: "T", type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT },
  ];
  const [product] = binding.executeOp("MatMul", attributes, [tensor, tensor], 1);
  const values = Array.from(binding.tensorDataSync(product.id));
  if (values.join() !== "7,10,15,22") throw new Error(`Error: the binding multiplied wrongly: ${values}`);
  process.stdout.write(binding.TF_Version);
}

module.exports = { probe };
if (require.main === module) main(process.argv[2]);
