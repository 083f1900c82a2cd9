const { availableParallelism } = require("node:os");
const { useMemory } = require("./test/support/jest/temporary-folder.js");

useMemory();

/** @type {import('jest').Config} */
module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testEnvironment: "<rootDir>/test/support/jest/environment.js",
  testRunner: "<rootDir>/test/support/jest/runner.js",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/dist", "<rootDir>/cdk.out", "<rootDir>/.ringmaster"],
  setupFilesAfterEnv: ["<rootDir>/test/support/setup.ts"],
  testSequencer: "<rootDir>/test/support/sequencer.js",
  reporters: ["default", "<rootDir>/test/support/native-reporter.js"],
  // End-to-end tests wait for processes and clocks half of their time: on two cores four files run at once.
  maxWorkers: Math.max(4, availableParallelism()),
  // Tests end by what they wait for. The limit ends one that hangs, and is beyond what a busy machine takes.
  testTimeout: 240_000,
};
