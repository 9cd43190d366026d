// Triggers that skip writes without an error.

import type { Sequelize } from 'sequelize'

/** What clients write has their mark; seeds have another one. */
const IS_SKIPPED = "NEW.name LIKE 'zqc%' AND NEW.rank = 'HIGH'"

const NAMES = ['insert', 'update', 'delete'] as const

function conditionOf(event: (typeof NAMES)[number]): string {
  return event === 'delete' ? "OLD.rank = 'middle'" : IS_SKIPPED
}

/** Makes the database skip some writes of notices. MySQL and MariaDB have no way to. */
export async function skipWrites(sequelize: Sequelize): Promise<void> {
  await runEach(sequelize, SKIPPED)
}

export async function allowWrites(sequelize: Sequelize): Promise<void> {
  await runEach(sequelize, ALLOWED)
}

type Statements = Readonly<Record<string, (event: (typeof NAMES)[number]) => readonly string[]>>

const SKIPPED: Statements = {
  sqlite: (event) => [
    `CREATE TRIGGER skip_${event} BEFORE ${event.toUpperCase()} ON Notices WHEN ${conditionOf(event)} BEGIN SELECT RAISE(IGNORE); END`,
  ],
  postgres: (event) => [
    `CREATE OR REPLACE FUNCTION skip_${event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF ${conditionOf(event)} THEN RETURN NULL; END IF; RETURN ${event === 'delete' ? 'OLD' : 'NEW'}; END $$`,
    `CREATE TRIGGER skip_${event} BEFORE ${event.toUpperCase()} ON "Notices" FOR EACH ROW EXECUTE FUNCTION skip_${event}()`,
  ],
}

const ALLOWED: Statements = {
  sqlite: (event) => [`DROP TRIGGER IF EXISTS skip_${event}`],
  postgres: (event) => [`DROP TRIGGER IF EXISTS skip_${event} ON "Notices"`],
}

async function runEach(sequelize: Sequelize, statements: Statements): Promise<void> {
  const write = statements[sequelize.getDialect()]
  if (write === undefined) return
  for (const sql of NAMES.flatMap(write)) await sequelize.query(sql)
}
