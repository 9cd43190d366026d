import express, { type Express } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../lib/index.js'
import { openDatabase, type TestDatabase } from './database.js'
import { serve, type TestServer } from './server.js'

/** Models with the rows of the documents' worked examples. */
export interface League extends TestDatabase {
  readonly Player: ModelStatic<Model>
  readonly Team: ModelStatic<Model>
}

export async function openLeague(): Promise<League> {
  const database = await openDatabase()
  const { sequelize } = database
  const Team = sequelize.define('Team', {
    name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
    description: DataTypes.STRING,
    maxMembers: DataTypes.INTEGER,
  })
  const Player = sequelize.define('Player', {
    name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
    level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
    email: { type: DataTypes.STRING, validate: { isEmail: true } },
    salary: DataTypes.DECIMAL(10, 2),
  })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  await sequelize.sync()
  await Team.bulkCreate([
    { name: 'Lakers', description: 'Los Angeles Lakers', maxMembers: 15 },
    { name: 'Celtics', description: 'Boston Celtics', maxMembers: 15 },
    { name: 'Warriors', description: 'Golden State Warriors', maxMembers: 15 },
  ])
  await Player.bulkCreate([
    { name: 'Jan Kowalski', level: 42, email: 'jan@test.pl', salary: 5000, teamId: 1 },
    { name: 'Anna Nowak', level: 75, email: 'anna@test.pl', salary: 8000, teamId: 2 },
    { name: 'Piotr Ski', level: 20, email: 'piotr@test.pl', salary: 3000, teamId: 1 },
    { name: 'Kasia Wielka', level: 55, email: 'kasia@company.com', salary: 6000, teamId: 3 },
    { name: 'Tomek Admin', level: 90, email: 'tomek@test.pl', salary: 12000, teamId: 2 },
    { name: 'Ola Testowa', level: 10, email: 'ola@company.com', salary: 2500, teamId: 3 },
  ])
  return { ...database, Player, Team }
}

/** Serves both resources of the league with every operation, on a real server. */
export async function serveLeague(
  options: { readonly player?: CrudOptions; readonly team?: CrudOptions } = {},
): Promise<League & TestServer & { readonly app: Express }> {
  const league = await openLeague()
  const app = express()
  app.use(crudRouter(league.Player, { operations: Operations.AllWithBulk, ...options.player }))
  app.use(crudRouter(league.Team, { operations: Operations.AllWithBulk, ...options.team }))
  const server = await serve(app)
  return {
    ...league,
    ...server,
    app,
    close: async () => {
      await server.close()
      await league.close()
    },
  }
}

/** Path of a list, with encoded query parameters. */
export function listPath(path: string, parameters: Readonly<Record<string, string | number | boolean>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return `${path}?${query}`
}
