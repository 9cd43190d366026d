import { type DataType, DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { relate, relateMany } from '../schema.js'

/** Models of the trading company, by table. */
export type Northwind = Readonly<
  Record<
    | 'Region'
    | 'Territory'
    | 'Employee'
    | 'EmployeeTerritory'
    | 'Category'
    | 'Supplier'
    | 'Shipper'
    | 'Product'
    | 'Customer'
    | 'CustomerDemographic'
    | 'CustomerCustomerDemo'
    | 'Order'
    | 'OrderDetail',
    ModelStatic<Model>
  >
>

/**
 * Defines the Northwind sample database, which has only types that every database supports. A table has a blank in its
 * name. Some text keys have a fixed length. Three tables have composite keys, one of them with further columns. There
 * are also amounts of money with 19 digits, floating-point numbers, long texts and bytes.
 *
 * Attributes are in camelCase and name their columns with `field`, like handwritten models.
 */
export function defineNorthwind(sequelize: Sequelize): Northwind {
  const { BLOB, BOOLEAN, CHAR, DATE, DECIMAL, INTEGER, REAL, SMALLINT, STRING, TEXT, UUID, UUIDV4 } = DataTypes
  const MONEY = DECIMAL(19, 4)
  const define = (name: string, tableName: string, attributes: Parameters<Sequelize['define']>[1]) =>
    sequelize.define(name, attributes, { tableName, timestamps: false })
  const column = (field: string, type: DataType) => ({ field, type })
  const required = (field: string, type: DataType) => ({ field, type, allowNull: false })
  const key = (field: string, type: DataType) => ({ field, type, primaryKey: true })
  const identity = (field: string) => ({ ...key(field, INTEGER), autoIncrement: true })
  /** A column whose published CHECK rejects negative values. */
  const amount = (field: string, type: DataType) => ({ field, type, defaultValue: 0, validate: { min: 0 } })

  const Region = define('Region', 'Region', {
    regionId: key('RegionID', INTEGER),
    regionDescription: required('RegionDescription', CHAR(50)),
  })
  const Territory = define('Territory', 'Territories', {
    territoryId: key('TerritoryID', STRING(20)),
    territoryDescription: required('TerritoryDescription', CHAR(50)),
    regionId: required('RegionID', INTEGER),
  })
  const Employee = define('Employee', 'Employees', {
    employeeId: identity('EmployeeID'),
    lastName: required('LastName', STRING(20)),
    firstName: required('FirstName', STRING(10)),
    title: column('Title', STRING(30)),
    titleOfCourtesy: column('TitleOfCourtesy', STRING(25)),
    birthDate: column('BirthDate', DATE),
    hireDate: column('HireDate', DATE),
    address: column('Address', STRING(60)),
    city: column('City', STRING(15)),
    region: column('Region', STRING(15)),
    postalCode: column('PostalCode', STRING(10)),
    country: column('Country', STRING(15)),
    homePhone: column('HomePhone', STRING(24)),
    extension: column('Extension', STRING(4)),
    photo: column('Photo', BLOB),
    notes: column('Notes', TEXT),
    reportsTo: column('ReportsTo', INTEGER),
    photoPath: column('PhotoPath', STRING(255)),
  })
  const EmployeeTerritory = define('EmployeeTerritory', 'EmployeeTerritories', {
    employeeId: key('EmployeeID', INTEGER),
    territoryId: key('TerritoryID', STRING(20)),
  })
  const Category = define('Category', 'Categories', {
    categoryId: identity('CategoryID'),
    categoryName: required('CategoryName', STRING(15)),
    description: column('Description', TEXT),
    picture: column('Picture', BLOB),
  })
  const company = () => ({
    companyName: required('CompanyName', STRING(40)),
    contactName: column('ContactName', STRING(30)),
    contactTitle: column('ContactTitle', STRING(30)),
    address: column('Address', STRING(60)),
    city: column('City', STRING(15)),
    region: column('Region', STRING(15)),
    postalCode: column('PostalCode', STRING(10)),
    country: column('Country', STRING(15)),
    phone: column('Phone', STRING(24)),
    fax: column('Fax', STRING(24)),
  })
  const Supplier = define('Supplier', 'Suppliers', {
    supplierId: identity('SupplierID'),
    ...company(),
    homePage: column('HomePage', TEXT),
  })
  const Shipper = define('Shipper', 'Shippers', {
    shipperId: identity('ShipperID'),
    companyName: required('CompanyName', STRING(40)),
    phone: column('Phone', STRING(24)),
  })
  const Product = define('Product', 'Products', {
    productId: identity('ProductID'),
    productName: required('ProductName', STRING(40)),
    supplierId: column('SupplierID', INTEGER),
    categoryId: column('CategoryID', INTEGER),
    quantityPerUnit: column('QuantityPerUnit', STRING(20)),
    unitPrice: amount('UnitPrice', MONEY),
    unitsInStock: amount('UnitsInStock', SMALLINT),
    unitsOnOrder: amount('UnitsOnOrder', SMALLINT),
    reorderLevel: amount('ReorderLevel', SMALLINT),
    discontinued: { ...required('Discontinued', BOOLEAN), defaultValue: false },
  })
  const Customer = define('Customer', 'Customers', { customerId: key('CustomerID', CHAR(5)), ...company() })
  const CustomerDemographic = define('CustomerDemographic', 'CustomerDemographics', {
    customerTypeId: key('CustomerTypeID', CHAR(10)),
    customerDesc: column('CustomerDesc', TEXT),
  })
  const CustomerCustomerDemo = define('CustomerCustomerDemo', 'CustomerCustomerDemo', {
    customerId: key('CustomerID', CHAR(5)),
    customerTypeId: key('CustomerTypeID', CHAR(10)),
  })
  const Order = define('Order', 'Orders', {
    orderId: identity('OrderID'),
    customerId: column('CustomerID', CHAR(5)),
    employeeId: column('EmployeeID', INTEGER),
    orderDate: column('OrderDate', DATE),
    requiredDate: column('RequiredDate', DATE),
    shippedDate: column('ShippedDate', DATE),
    shipVia: column('ShipVia', INTEGER),
    freight: { field: 'Freight', type: MONEY, defaultValue: 0 },
    shipName: column('ShipName', STRING(40)),
    shipAddress: column('ShipAddress', STRING(60)),
    shipCity: column('ShipCity', STRING(15)),
    shipRegion: column('ShipRegion', STRING(15)),
    shipPostalCode: column('ShipPostalCode', STRING(10)),
    shipCountry: column('ShipCountry', STRING(15)),
  })
  const OrderDetail = define('OrderDetail', 'Order Details', {
    orderId: key('OrderID', INTEGER),
    productId: key('ProductID', INTEGER),
    unitPrice: { ...amount('UnitPrice', MONEY), allowNull: false },
    quantity: { ...required('Quantity', SMALLINT), defaultValue: 1, validate: { min: 1 } },
    discount: { ...amount('Discount', REAL), allowNull: false, validate: { min: 0, max: 1 } },
    // This column is not in the published table. A resource needs a column that identifies rows.
    rowId: { ...required('RowID', UUID), unique: true, defaultValue: UUIDV4 },
  })

  relate(Territory, Region, { foreignKey: 'regionId', one: 'region', many: 'territories' })
  relate(Employee, Employee, { foreignKey: 'reportsTo', one: 'manager', many: 'reports' })
  relateMany([Employee, 'employeeId', 'employees'], [Territory, 'territoryId', 'territories'], EmployeeTerritory)
  relate(Product, Supplier, { foreignKey: 'supplierId', one: 'supplier', many: 'products' })
  relate(Product, Category, { foreignKey: 'categoryId', one: 'category', many: 'products' })
  relateMany(
    [Customer, 'customerId', 'customers'],
    [CustomerDemographic, 'customerTypeId', 'demographics'],
    CustomerCustomerDemo,
  )
  relate(Order, Customer, { foreignKey: 'customerId', one: 'customer', many: 'orders' })
  relate(Order, Employee, { foreignKey: 'employeeId', one: 'employee', many: 'orders' })
  relate(Order, Shipper, { foreignKey: 'shipVia', one: 'shipper', many: 'orders' })
  relate(OrderDetail, Order, { foreignKey: 'orderId', one: 'order', many: 'details' })
  relate(OrderDetail, Product, { foreignKey: 'productId', one: 'product', many: 'details' })
  relateMany([Order, 'orderId', 'orders'], [Product, 'productId', 'products'], OrderDetail)
  return {
    Region,
    Territory,
    Employee,
    EmployeeTerritory,
    Category,
    Supplier,
    Shipper,
    Product,
    Customer,
    CustomerDemographic,
    CustomerCustomerDemo,
    Order,
    OrderDetail,
  }
}
