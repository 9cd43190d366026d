import express, { type Express } from 'express'
import { apiDocs, crudRouter, Operations, Problem, problemHandler } from 'sequelize-crud-router'
import { Customer, Order, OrderLine, Product, ProductTag, Stock, Tag, Warehouse } from './models.js'

/** Creates an Express application with the resources of a small shop and their relations. */
export function shop(): Express {
  const app = express()
  const operations = Operations.AllWithBulk

  // Adds routes below the owner, such as `/api/customers/1/orders`.
  const customers = crudRouter(Customer, { operations, relations: { orders: { routes: true } } })
  // One request saves an order with its lines.
  const orders = crudRouter(Order, { operations, relations: { customer: true, lines: { write: true, routes: true } } })
  const lines = crudRouter(OrderLine, { operations })
  // Tags are linked by a route below the product, such as `PUT /api/products/2/tags/3`, or in the product's body:
  // `"tags": [1, 3]`.
  const both = { routes: true, write: true }
  const products = crudRouter(Product, { operations, relations: { tags: both, stock: { routes: true } } })
  const tags = crudRouter(Tag, { operations })
  const warehouses = crudRouter(Warehouse, { operations })
  // The keys of these two resources have two parts, such as `/api/stocks/1~2`. The first resource serves the join table
  // of products and tags.
  const productTags = crudRouter(ProductTag, { operations })
  const stocks = crudRouter(Stock, { operations })
  const resources = [customers, orders, products, tags, warehouses, stocks]
  for (const resource of [...resources, lines, productTags]) app.use(resource)

  // Serves /openapi.json, /docs for readers, and /client.d.ts. In these documents, `listOrderLines` lists the lines of
  // an order, and `listProductTags` the tags of a product.
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
