import { availableParallelism } from 'node:os'

// Another folder lets two builds of a working copy be tested at the same time.
const build = process.env.BUILD ?? '.build'

export default {
  files: [`${build}/test/*.js`, `${build}/test/{http,unit}/**/*.js`, `!${build}/test/support/**`],
  nodeArguments: ['--enable-source-maps'],
  timeout: '2m',
  // A thread of Node that hangs as it ends holds AVA up with it, which then tells of nothing. A process is killed.
  workerThreads: false,
  // A third of their time files wait, for databases, clocks and browsers.
  concurrency: availableParallelism() + 1,
}
