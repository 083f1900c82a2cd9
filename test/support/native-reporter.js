const folder = /[\\/]test[\\/]trainer[\\/]engine[\\/]native-(engine|kernels|program)\.test\.ts$/;

/** Says in the last line of a run whether the native engine was tested. */
module.exports = class {
  onRunComplete(_contexts, { testResults }) {
    const files = testResults.filter(({ testFilePath }) => folder.test(testFilePath));
    if (files.length === 0) return;
    const results = files.flatMap(({ testResults: tests }) => tests);
    const failed =
      results.some(({ status }) => status === "failed") || files.some(({ testExecError }) => testExecError);
    // Without a binding, each file has one test, of its absence.
    const tested = results.filter(({ title }) => !title.includes("not installed"));
    const verdict = failed
      ? "failed"
      : tested.length > 0
        ? `tested (${tested.length} tests)`
        : "not tested, because no binding is installed (node trainer-container/native/install.js installs one)";
    // Jest prints its summary after the reporters of a configuration.
    process.once("exit", () => process.stderr.write(`native engine: ${verdict}\n`));
  }
};
