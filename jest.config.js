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
  testTimeout: 60_000,
};
