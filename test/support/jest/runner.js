const asyncHooks = require("node:async_hooks");
const path = require("node:path");
const circus = require("jest-circus/runner").default;
const { registerSourceMaps } = require("./typescript");

const root = path.resolve(__dirname, "../../..");
const timeout = Symbol.for("TEST_TIMEOUT_SYMBOL");

/**
 * Runs a test file with `jest-circus` and Node's own `require`. A worker loads each module of the product and of
 * `node_modules` once, not once per file. It loads the modules under `test/` again for each file.
 */
module.exports = async (globalConfig, config, environment, runtime, testPath, sendMessageToJest) => {
  if (globalConfig.watch || globalConfig.watchAll) forgetModules(isOwn);
  const restore = saveProcessState();
  const storages = [];
  registerSourceMaps(runtime.getSourceMaps());
  globalThis.jest = jestObject(environment);
  globalThis.console = environment.global.console;
  try {
    return await circus(globalConfig, config, environment, nodeRuntime(runtime, storages), testPath, sendMessageToJest);
  } finally {
    environment.moduleMocker.restoreAllMocks();
    for (const storage of storages) storage.disable();
    restore();
    forgetModules((file) => isOwn(file) && /^test[\\/]/.test(path.relative(root, file)));
    forgetTensorFlow();
  }
};

/** Replaces how Jest's runtime loads modules. */
function nodeRuntime(runtime, storages) {
  return new Proxy(runtime, {
    get(target, name) {
      if (name === "requireModule") return require;
      if (name === "requireInternalModule") return (file) => requireCircus(file, storages);
      if (name === "setGlobalsForRuntime") return (globals) => Object.assign(globalThis, globals);
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Loads `jest-circus` again: an instance holds the state of one file. It never disables its `AsyncLocalStorage`, and up
 * to Node 22 each one that is enabled makes all promises of the process slower. `storages` receives it.
 */
function requireCircus(file, storages) {
  const { AsyncLocalStorage } = asyncHooks;
  asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
    constructor() {
      super();
      storages.push(this);
    }
  };
  try {
    forgetModules((name) => name === file);
    return require(file);
  } finally {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }
}

/** Forgets TensorFlow.js, which has one backend for each process, and the modules that use it. */
function forgetTensorFlow() {
  const isTensorFlow = (file) => /[\\/]node_modules[\\/]@tensorflow[\\/]/.test(file);
  if (!Object.keys(require.cache).some(isTensorFlow)) return;
  forgetModules((file) => isTensorFlow(file) || isOwn(file));
  delete globalThis._tfengine;
  delete globalThis._tfGlobals;
}

/** @returns whether a file belongs to the project and is no part of this runner */
function isOwn(file) {
  return file.startsWith(root) && !file.includes("node_modules") && !file.startsWith(__dirname);
}

function forgetModules(matches) {
  for (const file of Object.keys(require.cache)) if (matches(file)) delete require.cache[file];
  // A module keeps those that it loaded first.
  module.children = module.children.filter(({ filename }) => !matches(filename));
}

/** @returns the functions of `jest` that tests use; `jest.mock` needs a registry of modules for each file */
function jestObject({ moduleMocker, fakeTimersModern }) {
  return {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    mocked: (value) => value,
    restoreAllMocks: () => moduleMocker.restoreAllMocks(),
    useFakeTimers: (options) => fakeTimersModern.useFakeTimers(options),
    useRealTimers: () => fakeTimersModern.useRealTimers(),
    advanceTimersByTime: (ms) => fakeTimersModern.advanceTimersByTime(ms),
    setTimeout: (ms) => {
      globalThis[timeout] = ms;
    },
  };
}

/** @returns a function that undoes what a test file may change in the process */
function saveProcessState() {
  const { console } = globalThis;
  const environment = { ...process.env };
  const { exitCode } = process;
  return () => {
    globalThis.console = console;
    delete globalThis[timeout];
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    process.exitCode = exitCode;
  };
}
