export { type Certificate, makeCertificate, OPENSSL } from './certificate.js'
export { GALERA, startGalera } from './galera.js'
export { MARIADB, type MariaDbDialect, mariaDbAt, startMariaDb } from './mariadb.js'
export { PGBOUNCER, startPgBouncer } from './pgbouncer.js'
export { PGPOOL, startPgpool } from './pgpool.js'
export {
  type DatabaseServer,
  onServer,
  POSTGRES,
  postgresAt,
  REPLICA,
  startPostgres,
  startReplica,
} from './postgres.js'
export { newFolder, type RunningServer, runProgram, startProgram } from './process.js'
export { missingPrograms, programOf } from './programs.js'
export { type Proxy, startProxy } from './proxy.js'
export { REDIS, type RedisServer, startRedis } from './redis.js'
