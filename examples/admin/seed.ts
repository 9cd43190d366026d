import { Customer, Order, OrderLine } from '../shop/models.js'

const NAMES = 'Ada Bela Cleo Dora Emil Filip Greta Hugo Ines Kurt Lena Milo Nora Otto Paul Rita Sara Theo Ulla'.split(
  ' ',
)
const CITIES = ['Lublin', 'Gdynia', 'Kraków', 'Poznań', 'Wrocław']
const STATUSES = ['Sent', 'Paid', 'Open'] as const

/** Number of records that the shop's own seed has inserted. */
const FIRST = { customers: 2, orders: 2, products: 4 }
const COUNT = { customers: 40, orders: 200 }

/**
 * Adds records to the small shop, so that lists have several pages. The shop has 200 orders afterwards. The added
 * orders are older than the existing orders.
 */
export async function seedMore(): Promise<void> {
  const customers = Array.from({ length: COUNT.customers - FIRST.customers }, (_, index) => ({
    name: `${NAMES[index % NAMES.length]} ${String.fromCharCode(65 + (index % 26))}.`,
    city: CITIES[index % CITIES.length] ?? null,
  }))
  await Customer.bulkCreate(customers)
  const day = 24 * 60 * 60 * 1000
  const last = Date.parse('2026-10-31T16:00:00Z')
  const orders = Array.from({ length: COUNT.orders - FIRST.orders }, (_, index) => ({
    customerId: FIRST.customers + 1 + (index % customers.length),
    status: STATUSES[index % STATUSES.length] ?? 'Open',
    placedAt: new Date(last - index * day),
  }))
  await Order.bulkCreate(orders)
  await OrderLine.bulkCreate(
    orders.flatMap((_, index) =>
      Array.from({ length: 1 + (index % 3) }, (_, line) => ({
        orderId: FIRST.orders + 1 + index,
        productId: 1 + ((index + line) % FIRST.products),
        quantity: 1 + (index % 5),
      })),
    ),
  )
}
