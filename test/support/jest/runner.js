const asyncHooks = require("node:async_hooks");
const path = require("node:path");
const circus = require("jest-circus/runner").default;
const { registerSourceMaps } = require("./typescript");

const root = path.resolve(__dirname, "../../..");
const timeout = Symbol.for("TEST_TIMEOUT_SYMBOL");
const eventHandlers = Symbol.for("EVENT_HANDLERS");

/**
 * Runs a test file with `jest-circus` and Node's own `require`. A worker loads each module of the product and of
 * `node_modules` once, not once per file. It loads the modules under `test/` again for each file.
 */
module.exports = async (globalConfig, config, environment, runtime, testPath, sendMessageToJest) => {
  if (globalConfig.watch || globalConfig.watchAll) forgetModules(isOwn);
  const restore = saveProcessState();
  registerSourceMaps(runtime.getSourceMaps());
  globalThis.jest = jestObject(environment);
  globalThis.console = environment.global.console;
  try {
    return await circus(globalConfig, config, environment, nodeRuntime(runtime), testPath, sendMessageToJest);
  } finally {
    environment.moduleMocker.restoreAllMocks();
    restore();
    forgetModules((file) => isOwn(file) && /^test[\\/]/.test(path.relative(root, file)));
    forgetTensorFlow();
  }
};

/** Replaces how Jest's runtime loads modules. */
function nodeRuntime(runtime) {
  return new Proxy(runtime, {
    get(target, name) {
      if (name === "requireModule") return require;
      if (name === "requireInternalModule") return requireCircus;
      if (name === "setGlobalsForRuntime") return (globals) => Object.assign(globalThis, globals);
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Loads `jest-circus` again: an instance holds the state of one file. It would create an `AsyncLocalStorage` each time, and
 * never disable it. Up to Node 22, each makes all promises of the process slower.
 */
function requireCircus(file) {
  const { AsyncLocalStorage } = asyncHooks;
  asyncHooks.AsyncLocalStorage = SequentialStorage;
  try {
    forgetModules((name) => name === file);
    return require(file);
  } finally {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }
}

/** Holds the context of the test or hook that runs. Tests of a worker run one after the other (no `it.concurrent`). */
class SequentialStorage {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const before = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = before;
    }
  }
}

/** Forgets TensorFlow.js, which has one backend for each process, and the modules that load it, directly or through others. */
function forgetTensorFlow() {
  const loaders = new Map();
  for (const { filename, children } of Object.values(require.cache)) {
    for (const child of children) loaders.set(child.filename, [...(loaders.get(child.filename) ?? []), filename]);
  }
  const isTensorFlow = (file) => /[\\/]node_modules[\\/]@tensorflow[\\/]/.test(file);
  const using = new Set(Object.keys(require.cache).filter(isTensorFlow));
  if (using.size === 0) return;
  // The set grows while it is read.
  for (const file of using) for (const loader of loaders.get(file) ?? []) using.add(loader);
  forgetModules((file) => using.has(file) && (isTensorFlow(file) || isOwn(file)));
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
  // A copy in its place would keep what is set later from native libraries, which read the environment of the process.
  const { env, exitCode } = process;
  const environment = { ...env };
  return () => {
    globalThis.console = console;
    delete globalThis[timeout];
    // Otherwise the handlers of every earlier file report each result of this worker to the main process again.
    delete globalThis[eventHandlers];
    process.env = env;
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    process.exitCode = exitCode;
  };
}
