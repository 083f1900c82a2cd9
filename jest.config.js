const { availableParallelism, tmpdir, totalmem } = require("node:os");
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
  // End-to-end tests wait for processes and clocks half of their time, so more files run at once than there are cores.
  // A worker takes up to 1.3 GiB, and the stacks that it starts another.
  maxWorkers: Math.max(availableParallelism(), Math.min(4, Math.floor(totalmem() / 2 ** 30 / 3))),
  // Tests end by what they wait for. The limit ends one that hangs, and is beyond what a busy machine takes.
  testTimeout: 240_000,
};
