import type { Sample } from '../program.js'

/** Requests to the newly started example. The requests work in this order. */
export function samples(port: number): readonly Sample[] {
  const api = `localhost:${port}/api`
  const json = `-H 'Content-Type: application/json'`
  return [
    {
      title: 'Orders with their customer, and with their lines and the products in them',
      command: `curl -g '${api}/orders?select=id,status,customer.name,lines(quantity,product.name)'`,
    },
    {
      title: 'Products by how many tags they have, each with the warehouse that holds most of it',
      command: `curl -g '${api}/products?select=name,tags.count,stock(quantity,warehouse.city)&stock.sort=-quantity&stock.limit=1&sort=-tags.count'`,
    },
    { title: 'The orders of one customer', command: `curl -g '${api}/customers/1/orders?filter=status=Paid'` },
    {
      title: 'A new one under that customer',
      command: `curl -i -X POST '${api}/customers/1/orders' ${json} -d '{"status":"Open"}'`,
    },
    {
      title: 'An order and its lines, saved at once',
      command: `curl -X POST '${api}/orders' ${json} -d '{"customerId":2,"lines":[{"productId":1,"quantity":2},{"productId":3,"quantity":1}]}'`,
    },
    {
      title: 'Not if one of them is wrong: 400, and nothing is saved',
      command: `curl -X POST '${api}/orders' ${json} -d '{"customerId":2,"lines":[{"productId":1,"quantity":0}]}'`,
    },
    {
      title: 'The lines as they are to be: one stays, one changes, one is new, the others go',
      command: `curl -X PATCH '${api}/orders/1' ${json} -d '{"lines":[{"id":1},{"productId":2,"quantity":3}]}'`,
    },
    { title: 'The tags of a product', command: `curl '${api}/products/2/tags?sort=name'` },
    { title: 'One more', command: `curl -i -X PUT '${api}/products/2/tags/3'` },
    { title: 'One less', command: `curl -i -X DELETE '${api}/products/2/tags/1'` },
    {
      title: 'The tags as they are to be',
      command: `curl -X PUT '${api}/products/2/tags' ${json} -d '[1,2]'`,
    },
    {
      title: 'A product that is new, with its tags',
      command: `curl -X POST '${api}/products' ${json} -d '{"sku":"NET-2","name":"Beach net","price":39,"tags":[3,1]}'`,
    },
    { title: 'A record whose key has two parts', command: `curl '${api}/stocks/1~2'` },
    {
      title: 'Less of it',
      command: `curl -X PATCH '${api}/stocks/1~2' ${json} -d '{"quantity":2}'`,
    },
  ]
}
