import { PLAYERS, TENANTS } from './data.js'
import { get, json, query, type Side, type Workload } from './workloads.js'

/** The tenant of every request in these workloads. */
const TENANT = 7
const ALIVE = `tenantId=${TENANT},isDeleted=false`

/**
 * Adds conditions for the plain resource. The resource with behaviours applies them itself. Both resources then return
 * the same records.
 */
function filter(side: Side, own: string): string {
  if (side === 'behaviours') return own
  return own === '' ? ALIVE : `${own},${ALIVE}`
}

function list(parameters: Readonly<Record<string, string>>, own = ''): Workload['calls'] {
  return (side) => () => {
    const given = filter(side, own)
    return get(query('/api/employees', given === '' ? parameters : { ...parameters, filter: given }))
  }
}

/** Removes the salary, which only one side returns. */
const withoutSalary = json((body) => {
  const strip = (value: unknown): unknown => {
    const { salary, nextCursor, ...rest } = Object(value)
    return rest
  }
  const { items } = Object(body)
  return Array.isArray(items) ? { ...Object(strip(body)), items: items.map(strip) } : strip(body)
})

/** Reads of a resource with every behaviour. Each response is compared with the response of the plain resource. */
export const BEHAVIOUR_WORKLOADS: readonly Workload[] = [
  {
    name: 'behaviours: get by id',
    requests: 800,
    calls: () => (next) => get(`/api/employees/${TENANT + TENANTS * (next % (PLAYERS / TENANTS))}`),
    same: withoutSalary,
  },
  { name: 'behaviours: first page', requests: 300, calls: list({}), same: withoutSalary },
  {
    name: 'behaviours: filtered and sorted page',
    requests: 300,
    calls: list({ sort: '-level' }, 'level>50'),
    same: withoutSalary,
  },
  { name: 'behaviours: count', requests: 500, calls: list({ count: 'true' }, 'level>50') },
  { name: 'behaviours: select', requests: 300, calls: list({ select: 'name,level' }) },
  {
    name: 'behaviours: keyset page',
    requests: 300,
    calls: async (side, client) => {
      const parameters = side === 'behaviours' ? {} : { filter: ALIVE }
      const first = query('/api/employees', { ...parameters, cursor: '', pageSize: '500' })
      const { text } = await client.request(get(first))
      const { nextCursor } = Object(JSON.parse(text))
      return () => get(query('/api/employees', { ...parameters, cursor: String(nextCursor) }))
    },
    same: withoutSalary,
  },
]
