import { availableParallelism } from 'node:os'

// Another folder lets two builds of a working copy be tested at the same time.
const build = process.env.BUILD ?? '.build'

// The rigs start servers of their own, and take the machine to themselves: test/operations/run.mjs.
const isOperations = process.env.OPERATIONS !== undefined

export default {
  files: isOperations
    ? [`${build}/test/operations/*.js`]
    : [`${build}/test/*.js`, `${build}/test/{http,unit}/**/*.js`, `!${build}/test/support/**`],
  nodeArguments: ['--enable-source-maps'],
  timeout: isOperations ? '5m' : '2m',
  // A thread of Node that hangs as it ends holds AVA up with it, which then tells of nothing. A process is killed.
  workerThreads: false,
  // A third of their time files wait, for databases, clocks and browsers.
  concurrency: isOperations ? 1 : availableParallelism() + 1,
}
