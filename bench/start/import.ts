// A process of `npm run bench:start`. The process measures the cost of importing the last named package after the other
// named packages are loaded.

import { type Cost, costOf } from './cost.js'

const packages = process.argv.slice(2)
const measured = packages.pop() ?? ''
for (const name of packages) await import(name)
const cost: Cost = await costOf(() => import(measured))
process.send?.(cost)
