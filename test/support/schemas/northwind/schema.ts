import { Operations } from '../../../../lib/index.js'
import type { Schema } from '../schema.js'
import { defineNorthwind, type Northwind } from './models.js'
import { NORTHWIND_ROWS } from './rows.js'

/**
 * A resource for every table, except the two tables that contain only pairs of keys. Products are never deleted, only
 * discontinued.
 */
export const NORTHWIND: Schema<Northwind> = {
  define: defineNorthwind,
  rows: NORTHWIND_ROWS,
  marks: { Product: 'discontinued' },
  mount: ({ Product, OrderDetail, Order, ...others }, crudRouter) => {
    const { Region, Territory, Employee, Category, Supplier, Shipper, Customer, CustomerDemographic } = others
    const operations = Operations.AllWithBulk
    return [
      crudRouter(Product, {
        operations: operations + Operations.Restore,
        softDelete: { isDeleted: 'discontinued', deletedAt: 'discontinuedAt' },
        fields: { productId: { filterable: true } },
      }),
      crudRouter(OrderDetail, { operations, keyProperty: 'rowId', fields: { unitPrice: { decimal: 'number' } } }),
      crudRouter(Order, { operations, flatten: ['customer'], fields: { orderId: { filterable: true } } }),
      ...[Region, Territory, Employee, Category, Supplier, Shipper, Customer, CustomerDemographic].map((model) =>
        crudRouter(model, { operations }),
      ),
    ]
  },
}
