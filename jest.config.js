const { availableParallelism, tmpdir } = require("node:os");
const path = require("node:path");
const { useMemory } = require("./test/support/jest/temporary-folder.js");

useMemory();
// The data directory of the stack that end-to-end tests share. The first of them starts it.
process.env.RINGMASTER_SHARED_STACK = path.join(tmpdir(), `ringmaster-shared-${process.pid}`);
// Tests compare texts without colours, also where the environment asks for them, as CI systems do.
process.env.NO_COLOR = "1";

/** @type {import('jest').Config} */
module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testEnvironment: "<rootDir>/test/support/jest/environment.js",
  testRunner: "<rootDir>/test/support/jest/runner.js",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/dist", "<rootDir>/cdk.out", "<rootDir>/.ringmaster"],
  setupFilesAfterEnv: ["<rootDir>/test/support/setup.ts"],
  globalTeardown: "<rootDir>/test/support/jest/stop-shared-stack.js",
  testSequencer: "<rootDir>/test/support/sequencer.js",
  reporters: ["default", "<rootDir>/test/support/native-reporter.js"],
  maxWorkers: availableParallelism(), // with more, all tests take longer
  // Tests end by what they wait for. The limit ends one that hangs, and is beyond what a busy machine takes.
  testTimeout: 240_000,
};
