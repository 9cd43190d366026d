import {
  type CreationOptional,
  DataTypes,
  type ForeignKey,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'

export class Customer extends Model<InferAttributes<Customer>, InferCreationAttributes<Customer>> {
  declare id: CreationOptional<number>
  declare name: string
  declare city: CreationOptional<string | null>
}

export class Product extends Model<InferAttributes<Product>, InferCreationAttributes<Product>> {
  declare id: CreationOptional<number>
  /** Natural key of the product. Suppliers' lists contain it. */
  declare sku: string
  declare name: string
  declare price: number
}

export class Tag extends Model<InferAttributes<Tag>, InferCreationAttributes<Tag>> {
  declare id: CreationOptional<number>
  declare name: string
}

export class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<number>
  declare customerId: ForeignKey<number>
  declare status: CreationOptional<(typeof ORDER_STATUSES)[number]>
  declare placedAt: CreationOptional<Date>
}

export class OrderLine extends Model<InferAttributes<OrderLine>, InferCreationAttributes<OrderLine>> {
  declare id: CreationOptional<number>
  declare orderId: ForeignKey<number>
  declare productId: ForeignKey<number>
  declare quantity: number
}

export class Warehouse extends Model<InferAttributes<Warehouse>, InferCreationAttributes<Warehouse>> {
  declare id: CreationOptional<number>
  declare city: string
}

/** Join table of products and tags. The two foreign keys are the primary key. */
export class ProductTag extends Model<InferAttributes<ProductTag>, InferCreationAttributes<ProductTag>> {
  declare productId: ForeignKey<number>
  declare tagId: ForeignKey<number>
}

/** Stock of a product in a warehouse. Both foreign keys are the primary key. */
export class Stock extends Model<InferAttributes<Stock>, InferCreationAttributes<Stock>> {
  declare warehouseId: ForeignKey<number>
  declare productId: ForeignKey<number>
  declare quantity: CreationOptional<number>
}

export const ORDER_STATUSES = ['Open', 'Paid', 'Sent'] as const

/**
 * Connects the models to a SQLite file. The default driver is sqlite3. The models are plain Sequelize models and do not
 * depend on the API.
 */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })
  const id = { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true }
  const options = { sequelize, timestamps: false }

  Customer.init(
    { id, name: { type: DataTypes.STRING(50), allowNull: false }, city: DataTypes.STRING(50) },
    { ...options, modelName: 'Customer' },
  )
  Product.init(
    {
      id,
      sku: { type: DataTypes.STRING(20), allowNull: false, unique: true },
      name: { type: DataTypes.STRING(50), allowNull: false },
      price: { type: DataTypes.DECIMAL(10, 2), allowNull: false, validate: { min: 0 } },
    },
    { ...options, modelName: 'Product' },
  )
  Tag.init(
    { id, name: { type: DataTypes.STRING(20), allowNull: false, unique: true } },
    { ...options, modelName: 'Tag' },
  )
  ProductTag.init(
    {
      productId: { type: DataTypes.INTEGER, primaryKey: true },
      tagId: { type: DataTypes.INTEGER, primaryKey: true },
    },
    { ...options, modelName: 'ProductTag' },
  )
  Order.init(
    {
      id,
      customerId: { type: DataTypes.INTEGER, allowNull: false },
      status: { type: DataTypes.ENUM(...ORDER_STATUSES), allowNull: false, defaultValue: 'Open' },
      placedAt: { type: DataTypes.DATE, allowNull: false, defaultValue: DataTypes.NOW },
    },
    { ...options, modelName: 'Order' },
  )
  OrderLine.init(
    {
      id,
      orderId: { type: DataTypes.INTEGER, allowNull: false },
      productId: { type: DataTypes.INTEGER, allowNull: false },
      quantity: { type: DataTypes.INTEGER, allowNull: false, validate: { min: 1 } },
    },
    { ...options, modelName: 'OrderLine', indexes: [{ fields: ['orderId'] }] },
  )
  Warehouse.init({ id, city: { type: DataTypes.STRING(50), allowNull: false } }, { ...options, modelName: 'Warehouse' })
  Stock.init(
    {
      warehouseId: { type: DataTypes.INTEGER, primaryKey: true },
      productId: { type: DataTypes.INTEGER, primaryKey: true },
      quantity: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0, validate: { min: 0 } },
    },
    { ...options, modelName: 'Stock' },
  )

  Customer.hasMany(Order, { as: 'orders', foreignKey: 'customerId' })
  Order.belongsTo(Customer, { as: 'customer', foreignKey: 'customerId' })
  Order.hasMany(OrderLine, { as: 'lines', foreignKey: 'orderId', onDelete: 'CASCADE' })
  OrderLine.belongsTo(Order, { as: 'order', foreignKey: 'orderId' })
  OrderLine.belongsTo(Product, { as: 'product', foreignKey: 'productId' })
  Product.belongsToMany(Tag, { as: 'tags', through: ProductTag, foreignKey: 'productId', otherKey: 'tagId' })
  Tag.belongsToMany(Product, { as: 'products', through: ProductTag, foreignKey: 'tagId', otherKey: 'productId' })
  Product.hasMany(Stock, { as: 'stock', foreignKey: 'productId' })
  Stock.belongsTo(Product, { as: 'product', foreignKey: 'productId' })
  Stock.belongsTo(Warehouse, { as: 'warehouse', foreignKey: 'warehouseId' })
  return sequelize
}
