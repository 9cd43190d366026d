import test from 'ava'
import { type Joint, type Results, WriteQueue } from '../../../lib/perform/queue.js'

interface Options {
  readonly kind?: object
  readonly subject?: string | null
  readonly isLeft?: () => boolean
  /** What comes of it together with others; by itself it gives its name. */
  readonly together?: (names: readonly string[]) => readonly string[] | null
}

const KIND = {}

/** Writes that tell in what company they were done. */
function line(): { readonly done: string[]; readonly joint: (name: string, options?: Options) => Joint<string> } {
  const done: string[] = []
  const names = new Map<Joint<string>, string>()
  const joint = (name: string, options: Options = {}): Joint<string> => {
    const { kind = KIND, subject = null, isLeft = () => false, together = (all) => all } = options
    const own: Joint<string> = {
      kind,
      subject,
      get isLeft() {
        return isLeft()
      },
      alone: async () => {
        done.push(name)
        return name
      },
      together: async (all): Promise<Results<string>> => {
        const given = all.map((each) => names.get(each) ?? '')
        done.push(given.join('+'))
        const came = together(given)
        return new Map(came === null ? [] : all.map((each, index) => [each, [came[index] ?? '']]))
      },
    }
    names.set(own, name)
    return own
  }
  return { done, joint }
}

async function sent(
  queue: WriteQueue<string>,
  joints: readonly Joint<string>[],
  limit = 100,
): Promise<readonly PromiseSettledResult<string>[]> {
  const { promise, open } = gate()
  const first = queue.run(limit, () => promise)
  const all = joints.map((joint) => queue.join(limit, joint))
  const settled = Promise.allSettled(all)
  open()
  await first
  return settled
}

function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

const valuesOf = (all: readonly PromiseSettledResult<string>[]): readonly unknown[] =>
  all.map((each) => (each.status === 'fulfilled' ? each.value : each.reason))

test('what nobody waits behind is done by itself', async (t) => {
  const { done, joint } = line()
  t.is(await new WriteQueue<string>().join(10, joint('a')), 'a')
  t.deepEqual(done, ['a'])
})

test('those of a kind that wait one behind the other are done at once, two, four or eight of them', async (t) => {
  const { done, joint } = line()
  const names = Array.from({ length: 15 }, (_, index) => `${index}`)
  const all = await sent(
    new WriteQueue(),
    names.map((name) => joint(name)),
  )
  t.deepEqual(valuesOf(all), names)
  t.deepEqual(done, ['0+1+2+3+4+5+6+7', '8+9+10+11', '12+13', '14'])
})

test('nobody goes before one of another kind', async (t) => {
  const { done, joint } = line()
  const kind = {}
  await sent(new WriteQueue(), [joint('a'), joint('b', { kind }), joint('c'), joint('d'), joint('e', { kind })])
  t.deepEqual(done, ['a', 'b', 'c+d', 'e'])
})

test('nor before what is not done at once with anything', async (t) => {
  const { done, joint } = line()
  const queue = new WriteQueue<string>()
  const { promise, open } = gate()
  const all = [
    queue.run(10, () => promise),
    queue.join(10, joint('a')),
    queue.run(10, async () => done.push('own')),
    queue.join(10, joint('b')),
    queue.join(10, joint('c')),
  ]
  open()
  await Promise.all(all)
  t.deepEqual(done, ['a', 'own', 'b+c'])
})

test('two of one subject are done one after the other', async (t) => {
  const { done, joint } = line()
  const about = (name: string, subject: string): Joint<string> => joint(name, { subject })
  await sent(new WriteQueue(), [about('a', '1'), about('b', '2'), about('c', '1'), about('d', '2'), about('e', '2')])
  t.deepEqual(done, ['a+b', 'c+d', 'e'])
})

test('who has left is not among them, and is told at his turn', async (t) => {
  const { done, joint } = line()
  await sent(new WriteQueue(), [joint('a'), joint('b'), joint('gone', { isLeft: () => true }), joint('c'), joint('d')])
  t.deepEqual(done, ['a+b', 'gone', 'c+d'])
})

test('what does not come of them at once is done by each, in turn and before those behind them', async (t) => {
  const { done, joint } = line()
  const together = (names: readonly string[]): readonly string[] | null => (names.includes('bad') ? null : names)
  const all = await sent(
    new WriteQueue(),
    ['a', 'bad', 'b', 'c', 'd'].map((name) => joint(name, { together })),
  )
  t.deepEqual(valuesOf(all), ['a', 'bad', 'b', 'c', 'd'])
  t.deepEqual(done, ['a+bad+b+c', 'a', 'bad', 'b', 'c', 'd'])
})

test('what fails them all is told to each, and the line goes on', async (t) => {
  const { done, joint } = line()
  const failure = new Error('no')
  const together = (): never => {
    throw failure
  }
  const queue = new WriteQueue<string>()
  const all = await sent(queue, [joint('a', { together }), joint('b', { together })])
  t.deepEqual(valuesOf(all), [failure, failure])
  t.is(await queue.join(10, joint('c')), 'c')
  t.deepEqual(done, ['a+b', 'c'])
})

test('more than may wait are refused at once, whatever those are that wait', async (t) => {
  const { joint } = line()
  const all = await sent(new WriteQueue(), [joint('a'), joint('b'), joint('c')], 2)
  t.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  )
})
