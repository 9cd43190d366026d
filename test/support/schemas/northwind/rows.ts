import type { Northwind } from './models.js'

/** Returns the n-th item of a list that is repeated without end. */
const of = <T>(list: readonly T[], n: number): T => list[n % list.length] as T
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

const REGIONS = ['Eastern', 'Western', 'Northern', 'Southern', 'Nowhere']
const TOWNS = ['Wilton', 'New York', 'Santa Monica', 'Cary', 'Bellevue', 'Atlanta']
const LAST = ['Fuller', 'Davolio', 'Leverling', 'Peacock', 'Buchanan', 'Suyama', 'King', 'Callahan', 'Dodsworth']
const FIRST = ['Andrew', 'Nancy', 'Janet', 'Margaret', 'Steven', 'Michael', 'Robert', 'Laura', 'Anne']
const CATEGORIES = ['Beverages', 'Condiments', 'Confections', 'Dairy Products', 'Grains/Cereals', 'Seafood']
const PRODUCTS = ['Chai', "Uncle Bob's Pears", 'Côte de Blaye', 'Gnocchi di nonna Alice', 'Tofu', 'Röd Kaviar']
const CUSTOMERS = ['ALFKI', 'ANATR', 'ANTON', 'AROUT', 'BERGS', 'BLAUS', 'BLONP', 'BOLID', 'bulk', 'a/b', '100%', 'É é']
const TYPES = ['RETAIL', 'wholesale', '1', 'a b']
const CITIES: readonly (readonly [string, string | null, string])[] = [
  ['London', null, 'UK'],
  ['Seattle', 'WA', 'USA'],
  ['São Paulo', 'SP', 'Brazil'],
  ['Århus', null, 'Denmark'],
]

const company = (n: number) => {
  const [city, region, country] = of(CITIES, n)
  return {
    companyName: `${of(['Exotic', 'Ernst', "Lyng's", 'Öst & Süd'], n)} ${of(['Liquids', 'Handel', 'Trading'], n)} ${n}`,
    contactName: n % 5 === 0 ? null : `${of(FIRST, n)} ${of(LAST, n * 2)}`,
    contactTitle: of(['Owner', 'Sales Agent', null], n),
    address: `${n} Obere Str.`,
    city,
    region,
    postalCode: n % 4 === 0 ? null : `0${5021 + n}`,
    country,
    phone: `(5) 555-${4729 + n}`,
    fax: n % 2 === 0 ? null : `(5) 555-${3745 + n}`,
  }
}

export const NORTHWIND_ROWS: Readonly<Record<keyof Northwind, readonly object[]>> = {
  Region: REGIONS.map((regionDescription, n) => ({ regionId: n + 1, regionDescription })),
  Territory: times(18, (n) => ({
    territoryId: `0${1581 + n * 149}`,
    territoryDescription: `${of(TOWNS, n)}${n < 6 ? '' : ` ${n}`}`,
    regionId: 1 + (n % 4),
  })),
  Employee: LAST.map((lastName, n) => ({
    lastName,
    firstName: of(FIRST, n),
    title: n === 0 ? 'Vice President, Sales' : 'Sales Representative',
    titleOfCourtesy: of(['Ms.', 'Dr.', null], n),
    birthDate: n === 4 ? null : `19${48 + n}-12-08T00:00:00Z`,
    hireDate: `1992-0${1 + n}-01T08:15:30Z`,
    address: `${507 + n} - 20th Ave. E.\nApt. ${n}A`,
    city: of(CITIES, n)[0],
    region: of(CITIES, n)[1],
    postalCode: `9812${n}`,
    country: of(CITIES, n)[2],
    homePhone: `(206) 555-985${n}`,
    extension: `${5467 + n}`,
    photo: n % 2 === 0 ? Buffer.from([0x89, 0x50, 0x4e, 0x47, n, 0, 0xff]) : null,
    notes: n % 3 === 0 ? null : `${of(FIRST, n)} speaks French & German; 100% "fluent".`,
    reportsTo: n === 0 ? null : n > 5 ? 5 : 1,
    photoPath: n % 4 === 0 ? null : `http://accweb/employees/${of(LAST, n).toLowerCase()}.bmp`,
  })),
  EmployeeTerritory: times(16, (n) => ({ employeeId: 1 + (n % 8), territoryId: `0${1581 + ((n * 5) % 17) * 149}` })),
  Category: CATEGORIES.map((categoryName, n) => ({
    categoryName,
    description: n === 2 ? null : `${categoryName}, and more of it`,
    picture: n % 2 === 0 ? null : Buffer.from(categoryName),
  })),
  Supplier: times(14, (n) => ({ ...company(n), homePage: n % 3 === 0 ? `#CAJUN.HTM#${n}` : null })),
  Shipper: ['Speedy Express', 'United Package', 'Federal Shipping'].map((companyName, n) => ({
    companyName,
    phone: n === 2 ? null : `(503) 555-983${n}`,
  })),
  Product: times(30, (n) => ({
    productName: `${of(PRODUCTS, n)}${n < 6 ? '' : ` No. ${n}`}`,
    supplierId: n % 10 === 0 ? null : 1 + (n % 12),
    categoryId: n % 7 === 0 ? null : 1 + (n % 5),
    quantityPerUnit: n % 4 === 0 ? null : `${10 + n} boxes x 20 bags`,
    unitPrice: `${n * 3}.${of(['0000', '2500', '1234', '9999'], n)}`,
    unitsInStock: (n * 39) % 120,
    unitsOnOrder: n % 3 === 0 ? null : n * 10,
    reorderLevel: of([0, 5, 25, 30], n),
    discontinued: n % 8 === 5,
  })),
  Customer: CUSTOMERS.map((customerId, n) => ({ customerId, ...company(n + 3) })),
  CustomerDemographic: TYPES.map((customerTypeId, n) => ({
    customerTypeId,
    customerDesc: n === 2 ? null : `Customers of the ${n}. kind`,
  })),
  CustomerCustomerDemo: times(10, (n) => ({ customerId: of(CUSTOMERS, n), customerTypeId: of(TYPES, n * 3) })),
  Order: times(36, (n) => ({
    customerId: n % 9 === 0 ? null : of(CUSTOMERS, n * 5),
    employeeId: n % 11 === 0 ? null : 1 + (n % 8),
    orderDate: new Date(Date.UTC(1996, n % 12, 1 + (n % 27))),
    requiredDate: n % 6 === 0 ? null : new Date(Date.UTC(1996, n % 12, 28)),
    shippedDate: n % 4 === 0 ? null : new Date(Date.UTC(1996, n % 12, 15, 23, 59, 59)),
    shipVia: n % 13 === 0 ? null : 1 + (n % 3),
    freight: `${n * n}.${of(['3800', '0001', '5000'], n)}`,
    shipName: `Ship ${n}`,
    shipAddress: n % 5 === 0 ? null : `59 rue de l'Abbaye, ${n}`,
    shipCity: of(CITIES, n)[0],
    shipRegion: of(CITIES, n)[1],
    shipPostalCode: `5110${n % 10}`,
    shipCountry: of(CITIES, n)[2],
  })),
  OrderDetail: times(72, (n) => ({
    orderId: 1 + ((n * 7) % 32),
    productId: 1 + ((n * 5 + Math.floor(n / 32)) % 28),
    unitPrice: `${n}.${of(['0000', '4500', '0625'], n)}`,
    quantity: 1 + ((n * 11) % 40),
    discount: of([0, 0.05, 0.25, 0.1, 1], n),
    rowId: `0b1c2d3e-0000-4000-8000-${String(n).padStart(12, '0')}`,
  })),
}
