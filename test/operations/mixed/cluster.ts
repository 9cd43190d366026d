// A primary of PostgreSQL and a replica, each behind PgBouncer in transaction mode. Commits wait for the replica, so that a failover loses
// nothing. The proxies between PgBouncer and the servers are the addresses that an operator redirects.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { QueryTypes, Sequelize } from 'sequelize'
import {
  type Proxy as Address,
  type DatabaseServer,
  onServer,
  startPgBouncer,
  startPostgres,
  startProxy,
  startReplica,
} from '../servers/index.js'
import { using } from '../servers/rig.js'

/** Replicas that start later find the log that they lack. */
const SETTINGS = { wal_keep_size: '512MB' }

/** PgBouncer connects to a new primary within some seconds, and holds no query for longer. */
const POOLER = { server_login_retry: 1, query_wait_timeout: 5, server_lifetime: 5, server_connect_timeout: 5 }

/** Milliseconds until somebody notices that the primary is dead. */
const NOTICED = 2000

export interface Cluster {
  /** Where Sequelize writes and reads. */
  readonly write: DatabaseServer['options']
  readonly read: DatabaseServer['options']
  /** Connects to the primary directly. */
  readonly primary: () => DatabaseServer['options']
  /** Kills the primary and promotes the replica. Resolves when the new primary has a replica. */
  readonly failOver: () => Promise<void>
  /** Turns the primary read-only, promotes the replica and cuts no connection. Resolves when the new primary has a replica. */
  readonly switchOver: () => Promise<void>
}

export async function startCluster(
  t: ExecutionContext,
  tables: (sequelize: Sequelize) => Promise<void>,
): Promise<Cluster> {
  let primary = using(t, await startPostgres({ settings: SETTINGS }))
  await tables(new Sequelize(primary.options))
  let replica = using(t, await startReplica(primary, SETTINGS))
  await holdCommits(primary)
  const [writing, reading] = [using(t, await startProxy(primary.port)), using(t, await startProxy(replica.port))]
  const poolers: DatabaseServer[] = []
  for (const { port } of [writing, reading])
    poolers.push(using(t, await startPgBouncer({ server: port, settings: POOLER })))
  const [write, read] = poolers
  if (write === undefined || read === undefined) throw new TypeError('there are two poolers')

  /** The replica is the primary now. It gets a replica of its own. */
  async function replace(proxy: Address): Promise<void> {
    const before = primary
    primary = replica
    proxy.lead(primary.port)
    replica = using(t, await startReplica(primary, SETTINGS))
    reading.lead(replica.port)
    await holdCommits(primary)
    // Nobody is connected to it any more, when the connections of PgBouncer have reached their lifetime.
    await wait(10_000)
    await before.stop()
  }

  return {
    write: write.options,
    read: read.options,
    primary: () => primary.options,
    failOver: async () => {
      primary.signal('SIGKILL')
      writing.cut()
      await wait(NOTICED)
      await onServer(replica.options, 'SELECT pg_promote()')
      await replace(writing)
    },
    switchOver: async () => {
      const turn = ['ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()']
      await onServer(primary.options, ...turn)
      // Transactions that began before may still write.
      await until(primary, 'SELECT COUNT(*) = 0 AS done FROM pg_stat_activity WHERE backend_xid IS NOT NULL')
      await until(primary, 'SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) AS done FROM pg_stat_replication')
      await onServer(replica.options, 'SELECT pg_promote()')
      await replace(writing)
    },
  }
}

/** Has commits wait until a replica has them. */
async function holdCommits(primary: DatabaseServer): Promise<void> {
  await until(primary, "SELECT COUNT(*) > 0 AS done FROM pg_stat_replication WHERE state = 'streaming'")
  await onServer(primary.options, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()')
}

async function until({ options }: DatabaseServer, sql: string): Promise<void> {
  const sequelize = new Sequelize({ ...options, pool: { max: 1 } })
  try {
    for (;;) {
      const [row] = await sequelize.query(sql, { type: QueryTypes.SELECT })
      if (Object(row).done === true) return
      await wait(50)
    }
  } finally {
    await sequelize.close()
  }
}
