// What the compiler has to do for an application with many resources: it ends, in seconds, and still finds a misspelt name.

import test from 'ava'
import { consumer, dependencies, node, pack } from './support/consumer.js'

const COUNT = 100

const HEAD = `
import { type CreationOptional, type InferAttributes, type InferCreationAttributes, Model, type NonAttribute } from 'sequelize'
import { crudRouter, Operations } from 'sequelize-crud-router'
import { resource } from 'sequelize-crud-router/client'
`

/** A model of ten attributes and two relations into the others, its router, and a client that reads and writes by it. */
function resourceAt(index: number): string {
  const name = `M${index}`
  const [one, many] = [`M${(index + 1) % COUNT}`, `M${(index + 7) % COUNT}`]
  return `
export class ${name} extends Model<InferAttributes<${name}>, InferCreationAttributes<${name}>> {
  declare id: CreationOptional<number>
  declare name: string
  declare code${index}: string
  declare level: CreationOptional<number>
  declare price: CreationOptional<string | null>
  declare active: CreationOptional<boolean>
  declare note: CreationOptional<string | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
  declare otherId: number | null
  declare other?: NonAttribute<${one} | null>
  declare others?: NonAttribute<${many}[]>
}
export const r${index} = crudRouter(${name}, {
  operations: Operations.AllWithBulk,
  fields: { price: { decimal: 'number' } },
  mask: { note: 'staff' },
  relations: { other: true, others: { write: true } },
})
export async function use${index}(): Promise<void> {
  const api = resource<typeof r${index}>('/api/m${index}')
  const [item] = (await api.list({ select: 'name,other.name,others.name', sort: '-level' })).items
  const text: string | undefined = item?.other?.name
  const made = await api.create({ name: text ?? '', code${index}: 'x', otherId: null })
  const note: string | null = made.note
  await api.update(made, { level: note === null ? 1 : 2 })
}
`
}

test(`an application with ${COUNT} resources, their routers and clients is checked by the compiler, misspelt names too`, async (t) => {
  t.timeout(300_000)
  const tarball = await pack()
  t.teardown(() => tarball.remove())
  const names = ['sequelize', 'express', 'typescript', '@types/express', '@types/node', 'socket.io', 'socket.io-client']
  const wrong = `${HEAD.replace('Model, type', 'type')}import { r3 } from './many.js'
await resource<typeof r3>('/api/m3').create({ nam: 'x', code3: 'x', otherId: null })
`.replace(/import \{ type Creation[^\n]*\n/, '')
  const folder = await consumer(
    tarball,
    'many',
    Object.fromEntries([...names, ...(await dependencies())].map((name) => [name, name])),
    {
      'package.json': JSON.stringify({ private: true, type: 'module' }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: true,
          types: ['node'],
        },
        files: ['many.ts'],
      }),
      'many.ts': HEAD + Array.from({ length: COUNT }, (_, index) => resourceAt(index)).join(''),
      'wrong.ts': wrong,
    },
  )
  const start = performance.now()
  const right = await node(folder, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')
  t.log(`${COUNT} resources in ${((performance.now() - start) / 1000).toFixed(1)} s`)
  t.deepEqual(right, { status: 0, stdout: '', stderr: '' })
  const misspelt = await node(
    folder,
    ...['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig'],
    ...['--module', 'nodenext', '--target', 'es2022', '--types', 'node', 'wrong.ts'],
  )
  t.regex(misspelt.stdout, /wrong\.ts\(\d+,\d+\): error .*'nam' does not exist/)
})
