import express, { type Express } from 'express'
import { apiDocs, crudRouter, Operations, Problem, problemHandler } from 'sequelize-crud-router'
import { Customer, Order, OrderLine, Product, ProductTag, Stock, Tag, Warehouse } from './models.js'

/** An Express application with the resources of a small shop and the relations between them. */
export function shop(): Express {
  const app = express()
  const operations = Operations.AllWithBulk

  // Routes under the owner, `/api/customers/1/orders`.
  const customers = crudRouter(Customer, { operations, relations: { orders: { routes: true } } })
  // Lines are saved with their order, in one request.
  const orders = crudRouter(Order, { operations, relations: { customer: true, lines: { write: true, routes: true } } })
  const lines = crudRouter(OrderLine, { operations })
  // Tags are given and taken under the product, `PUT /api/products/2/tags/3`, or with it, `"tags": [1, 3]`.
  const both = { routes: true, write: true }
  const products = crudRouter(Product, { operations, relations: { tags: both, stock: { routes: true } } })
  const tags = crudRouter(Tag, { operations })
  const warehouses = crudRouter(Warehouse, { operations })
  // Their keys have two parts: `/api/stocks/1~2`. The first is what links products and tags.
  const productTags = crudRouter(ProductTag, { operations })
  const stocks = crudRouter(Stock, { operations })
  const resources = [customers, orders, products, tags, warehouses, stocks]
  for (const resource of [...resources, lines, productTags]) app.use(resource)

  // /openapi.json, /docs for people, and /client.d.ts. There `listOrderLines` lists the lines of an order, and `listProductTags`
  // the tags of a product.
  const named = [
    { resource: lines, names: { response: 'Line' } },
    { resource: productTags, names: { response: 'ProductTagLink' } },
  ]
  app.use(apiDocs({ resources: [...resources, ...named], info: { title: 'Shop', version: '1.0.0' } }))

  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
