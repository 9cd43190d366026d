// Server with @dataui/crud and TypeORM on Nest. The server's controllers have no decorators, and its entities are
// schemas.

import 'reflect-metadata'
import { createServer } from 'node:http'
import { Controller, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { listen, target } from '../../servers/serve.js'
import { packagesOf } from '../packages.js'

interface DataSource {
  initialize(): Promise<unknown>
  query(text: string): Promise<unknown>
  getRepository(entity: unknown): unknown
}

const packages = packagesOf('dataui-crud')
const typeorm: {
  DataSource: new (options: unknown) => DataSource
  EntitySchema: new (options: unknown) => unknown
} = packages('typeorm')
const { Crud }: { Crud: (options: unknown) => ClassDecorator } = packages('@dataui/crud')
const { TypeOrmCrudService }: { TypeOrmCrudService: new (repository: unknown) => object } =
  packages('@dataui/crud-typeorm')

class Player {}
class Team {}

const shared = {
  id: { type: Number, primary: true, generated: true },
  name: { type: String, length: 50 },
  createdAt: { type: 'datetime', createDate: true },
  updatedAt: { type: 'datetime', updateDate: true },
}
const players = new typeorm.EntitySchema({
  name: 'Player',
  target: Player,
  tableName: 'players',
  columns: {
    ...shared,
    level: { type: Number, nullable: true },
    email: { type: String, length: 200, nullable: true },
    teamId: { type: Number, nullable: true },
  },
  relations: {
    team: { type: 'many-to-one', target: 'Team', joinColumn: { name: 'teamId' }, inverseSide: 'players' },
  },
})
const teams = new typeorm.EntitySchema({
  name: 'Team',
  target: Team,
  tableName: 'teams',
  columns: {
    ...shared,
    description: { type: String, length: 200, nullable: true },
    maxMembers: { type: Number, nullable: true },
  },
  relations: { players: { type: 'one-to-many', target: 'Player', inverseSide: 'team', cascade: ['insert'] } },
})

const { storage } = target()
const source = new typeorm.DataSource({ type: 'sqlite', database: storage, entities: [players, teams] })
await source.initialize()
await source.query('PRAGMA synchronous = NORMAL')
// TypeORM cannot parse the offset in times that Sequelize has written into SQLite.
for (const table of ['players', 'teams']) {
  const columns = ['createdAt', 'updatedAt'].map((name) => `${name} = replace(${name}, ' +00:00', '')`)
  await source.query(`UPDATE ${table} SET ${columns.join(', ')}`)
}

function resource(path: string, entity: typeof Player | typeof Team, query: unknown): new () => object {
  class Resource {
    readonly service = new TypeOrmCrudService(source.getRepository(entity))
  }
  Crud({ model: { type: entity }, query: { limit: 20, maxLimit: 1000, ...Object(query) }, validation: false })(Resource)
  Controller(path)(Resource)
  return Resource
}

class Root {}
Module({
  controllers: [
    resource('api/players', Player, { join: { team: { select: false } } }),
    resource('api/teams', Team, { join: { players: { select: false } } }),
    resource('api/families', Team, { join: { players: { eager: true } } }),
  ],
})(Root)

const app = await NestFactory.create<NestExpressApplication>(Root, { logger: ['error', 'warn'] })
app.useBodyParser('json', { limit: '1mb' })
await app.init()
listen(createServer(app.getHttpAdapter().getInstance()))
