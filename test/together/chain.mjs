// The module that test files get for `ava` in a process of several files. Its functions are those of the file that runs.

/** The runner of the test file that runs. */
export const current = { runner: null }

// A module that several test files import declares tests for each of them. Such a module is loaded once.
export default new Proxy(() => undefined, {
  apply: (_, self, args) => Reflect.apply(current.runner.chain, self, args),
  get: (_, name) => current.runner.chain[name],
})
