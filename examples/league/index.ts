// `npm start` serves three resources on a SQLite file, and the board of `npm run example live`. The program prints
// example requests.

import express from 'express'
import type { Sequelize } from 'sequelize'
import { type Board, openBoard } from '../live/app.js'
import { connect as connectBoard } from '../live/models.js'
import { seed as seedBoard } from '../live/seed.js'
import { printSamples, run } from '../program.js'
import type { Example, ExampleServer } from '../server.js'
import { league } from './app.js'
import { connect } from './models.js'
import { frontPage } from './page.js'
import { samples } from './requests.js'
import { seed } from './seed.js'

function example(): Example {
  let board: Board
  let boardData: Sequelize
  return {
    name: 'league',
    connect: (storage, driver) => {
      // Both programs have a table of orders, so the board has a file of its own.
      boardData = connectBoard(`${storage}-board.sqlite`, driver)
      return connect(storage, driver)
    },
    seed: async (sequelize) => {
      await seed(sequelize)
      await seedBoard(boardData)
    },
    app: (server) => {
      board = openBoard(server)
      return express().get('/', frontPage).use('/live', board.app).use(league())
    },
    release: async () => {
      await board.close()
      await boardData.close()
    },
  }
}

function greet({ port, storage }: ExampleServer): void {
  console.log(`Open http://localhost:${port} for requests to try and a live board.`)
  console.log(`The league is at http://localhost:${port}/api/players, /api/teams and /api/orders.`)
  console.log(`The board has orders of its own: http://localhost:${port}/live/api/orders, events: /api/orders/hub.`)
  console.log(`What they can do: http://localhost:${port}/docs`)
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nTry, in another terminal:\n')
  printSamples(samples(port))
}

await run('npm start', example, greet)
