import test from 'ava'
import { CommitQueuePosition } from '../../../lib/common/commitQueue.js'
import { CommitPositions } from '../../../lib/push/commitPositions.js'

/** A place that has taken some keys, and tells of itself when its turn comes. */
function standing(places: CommitPositions<string>, told: string[]) {
  return (name: string, ...keys: string[]) => {
    const place = new CommitQueuePosition()
    places.addPosition(() => keys, place)
    return {
      place,
      take: (...more: string[]) => places.addPosition(() => more, place),
      tell: () => {
        const { turn } = place
        const now = (): void => {
          told.push(name)
          place.end()
        }
        return turn === null ? now() : turn.then(now)
      },
    }
  }
}

test('who has a key in common with others tells behind them, and others at once', async (t) => {
  const told: string[] = []
  const stand = standing(new CommitPositions(), told)
  const a = stand('a', '1')
  const b = stand('b', '1', '2')
  const c = stand('c', '2')
  const d = stand('d', '3')
  const ends = [d.tell(), c.tell(), b.tell()]
  t.deepEqual(told, ['d'])
  ends.push(a.tell())
  await Promise.all(ends)
  t.deepEqual(told, ['d', 'a', 'b', 'c'])
})

test('who comes when the others have told waits for nobody', (t) => {
  const told: string[] = []
  const stand = standing(new CommitPositions(), told)
  stand('a', '1').tell()
  const b = stand('b', '1')
  t.is(b.place.turn, null)
  b.tell()
  t.deepEqual(told, ['a', 'b'])
})

test('behind one who gives up others still wait for those who were before him', async (t) => {
  const told: string[] = []
  const stand = standing(new CommitPositions(), told)
  const a = stand('a', '1')
  const b = stand('b', '1')
  const c = stand('c', '1')
  b.place.end()
  const d = stand('d', '1')
  const ends = [d.tell(), c.tell()]
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(told, [])
  await Promise.all([a.tell(), ...ends])
  t.deepEqual(told, ['a', 'c', 'd'])
})

test('nobody waits for those who wait for him, through others as well', async (t) => {
  const told: string[] = []
  const stand = standing(new CommitPositions(), told)
  const a = stand('a', '1')
  const b = stand('b', '1', '2')
  const c = stand('c', '2', '3')
  a.take('3', '1')
  t.is(a.place.turn, null)
  const d = stand('d', '3')
  const ends = [d.tell(), c.tell(), b.tell()]
  await Promise.all([a.tell(), ...ends])
  t.deepEqual(told, ['a', 'b', 'c', 'd'])
})

test('nobody comes behind himself, however often he takes a place', (t) => {
  const told: string[] = []
  const a = standing(new CommitPositions(), told)('a', '1', '1')
  a.take('1')
  t.is(a.place.turn, null)
  a.tell()
  a.place.end()
  t.deepEqual(told, ['a'])
})

test('of one who is expected it is known what others have written meanwhile, and only that', (t) => {
  const places = new CommitPositions<string>()
  const [early, mine, other] = [new CommitQueuePosition(), new CommitQueuePosition(), new CommitQueuePosition()]
  places.addPosition(() => ['0'], early)
  places.expect(mine)
  places.expect(mine)
  places.addPosition(() => ['1', '2'], other)
  places.addPosition(() => ['3'], mine)
  t.deepEqual(
    ['0', '1', '2', '3'].map((key) => places.isDoubtful(mine, key)),
    [false, true, true, false],
  )
  t.false(places.isDoubtful(other, '1'))
  mine.end()
  for (const place of [early, other]) place.end()
  places.addPosition(() => ['4'], new CommitQueuePosition())
  t.false(places.isDoubtful(mine, '4'))
})

test('who is expected hears of what others write, until the transaction of the host is rolled back', (t) => {
  const places = new CommitPositions<string>()
  let isRolledBack = false
  const place = new CommitQueuePosition(() => isRolledBack)
  places.expect(place)
  places.addPosition(() => ['1'], new CommitQueuePosition())
  t.true(places.isDoubtful(place, '1'))
  isRolledBack = true
  places.addPosition(() => ['2'], new CommitQueuePosition())
  t.false(places.isDoubtful(place, '1'))
  t.false(places.isDoubtful(place, '2'))
})
