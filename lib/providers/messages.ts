/** The place of a message as forms write it: `lines.0.quantity` for `lines[0].quantity`. */
export function fieldPath(place: string): string {
  return place.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
}
