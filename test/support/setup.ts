/** The SDK's news about Node's versions is not what a test's output is for. */
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
/** Every answer of the API, in process or of a stack that a test starts, is held against its contract. */
process.env["RINGMASTER_CHECK_RESPONSES"] = "1";
/** Stacks that a test starts record which permissions are used; `scripts/check-grants.js` reads the records. */
process.env["RINGMASTER_RECORD_ACCESSES"] = "1";
/** Jest sets this for its workers where its own output has colours; jest.config.js turns colours off for tests. */
delete process.env["FORCE_COLOR"];
