/** @type {import('jest').Config} */
module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testEnvironment: "node",
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  modulePathIgnorePatterns: ["<rootDir>/dist", "<rootDir>/cdk.out", "<rootDir>/.ringmaster"],
  setupFiles: ["<rootDir>/test/support/setup.ts"],
  // Much of the time is spent waiting for processes and clocks: as many suites at once as there are cores.
  maxWorkers: "100%",
  testTimeout: 60_000,
};
