// What the AuthZEN working group publishes for tests, in a shorter form: the certification scenario of the
// Authorization API 1.0 (Basic, Batch, Discovery), and the decisions of its interoperability scenarios "Todo"
// (40 and 3) and "API gateway" (25), whose data are under the MIT License (Aserto).

export const policies = `
type subject_entity  = { type: string, id: string, properties?: { role?: string, ... }, ... }
type resource_entity = { type: string, id: string, properties?: { status?: string, ownerID?: string, ... }, ... }

action record.read, record.write { subject: subject_entity, resource: resource_entity, ... }
action record.delete {
  subject: subject_entity
  resource: resource_entity
  action: { name: string, properties?: { soft?: boolean, ... }, ... }
  ...
}
let archived = payload has resource.properties.status and payload.resource.properties.status == "archived"
let manager  = payload has subject.properties.role and payload.subject.properties.role == "admin"
policy reading on record.read { allow anyone when payload.subject.id in ["alice", "bob"] }
policy writing on record.write {
  allow active when payload.subject.id == "alice" and not archived
  allow archive when archived and manager
}
policy deleting on record.delete {
  allow soft when payload.subject.id == "alice" and payload has action.properties.soft and payload.action.properties.soft
}

action user.can_read_user, todo.can_read_todos, todo.can_create_todo, todo.can_update_todo, todo.can_delete_todo {
  subject: subject_entity
  resource: resource_entity
  ...
}
action route.GET, route.POST, route.PUT, route.DELETE { subject: subject_entity, ... }
let rick   = payload.subject.id == "CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"
let morty  = payload.subject.id == "CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"
let summer = payload.subject.id == "CiRmZDI2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"
let viewer = payload.subject.id in [
  "CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs",
  "CiRmZDQ2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"
]
let editor = rick or morty or summer
let owned  = payload has resource.properties.ownerID
policy todos on user.can_read_user, todo.can_read_todos { allow everybody when editor or viewer }
policy new_todos on todo.can_create_todo { allow editors when editor }
policy old_todos on todo.can_update_todo, todo.can_delete_todo {
  allow all_of_them when rick
  allow of_morty when morty and owned and payload.resource.properties.ownerID == "morty@the-citadel.com"
  allow of_summer when summer and owned and payload.resource.properties.ownerID == "summer@the-smiths.com"
}
policy routes on route.* {
  allow looking when action.key == "route.GET" and (editor or viewer)
  allow changing when editor
}
`;

const alice = { type: 'user', id: 'alice' };
const bob = { type: 'user', id: 'bob' };
const chief = { ...bob, properties: { role: 'admin' } };
const [read, write] = [{ name: 'read' }, { name: 'write' }];
const first = { type: 'record', id: 'record-1' };
const second = { type: 'record', id: 'record-2' };
const kept = { ...first, properties: { status: 'active' } };
const stored = { ...second, properties: { status: 'archived' } };
const erase = (soft: boolean) => ({ name: 'delete', properties: { soft } });
const context = { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' };

/** Alice reads the first record. */
export const good = { subject: alice, action: read, resource: first };

/** Evaluations by the section of the scenario: the request and its expected decision. */
export const basic: readonly (readonly [string, object, boolean])[] = [
  ['2.2.1', good, true],
  ['1.4 (2)', { ...good, action: write }, true],
  ['1.4 (3)', { ...good, subject: bob }, true],
  ['2.2.2', { subject: bob, action: write, resource: first }, false],
  ['2.2.3', { ...good, context }, true],
  ['2.2.4', { subject: alice, action: write, resource: stored }, false],
  ['2.2.5', { subject: chief, action: write, resource: stored }, true],
  ['2.2.6', { ...good, action: erase(true) }, true],
  ['2.2.7', { ...good, action: erase(false) }, false],
  [
    '2.2.8',
    {
      subject: { ...alice, properties: { department: 'Sales', role: 'manager' } },
      action: { ...read, properties: { method: 'GET' } },
      resource: { ...first, properties: { status: 'active', owner: 'bob' } },
    },
    true,
  ],
  ['2.2.9', { ...good, foo: 'bar', futureField: { nested: true } }, true],
];

const { subject: _s, ...noSubject } = good;
const { action: _a, ...noAction } = good;
const { resource: _r, ...noResource } = good;

/** Requests that must be answered with 400, by the section of the scenario. */
export const broken: readonly (readonly [string, object])[] = [
  ['2.4.1 subject', noSubject],
  ['2.4.1 action', noAction],
  ['2.4.1 resource', noResource],
  ['2.4.2 subject.type', { ...good, subject: { id: 'alice' } }],
  ['2.4.2 subject.id', { ...good, subject: { type: 'user' } }],
  ['2.4.2 action.name', { ...good, action: {} }],
  ['2.4.2 resource.type', { ...good, resource: { id: 'record-1' } }],
  ['2.4.2 resource.id', { ...good, resource: { type: 'record' } }],
  ['2.4.6 subject', { ...good, subject: 'alice' }],
  ['2.4.6 action.name', { ...good, action: { name: 123 } }],
];

/** Batches with their decisions in order; null when the scenario leaves a decision open. */
export const batches: readonly (readonly [string, object, readonly (boolean | null)[]])[] = [
  [
    '3.2.1',
    { subject: alice, action: read, evaluations: [{ resource: first }, { resource: second }] },
    [true, null],
  ],
  [
    '3.2.2',
    { subject: bob, resource: first, evaluations: [{ action: read }, { action: write }] },
    [true, false],
  ],
  [
    '3.2.3',
    { subject: alice, action: write, evaluations: [{ resource: kept }, { resource: stored }] },
    [true, false],
  ],
  [
    '3.2.4',
    { action: write, resource: stored, evaluations: [{ subject: alice }, { subject: chief }] },
    [false, true],
  ],
  ['3.2.5', { evaluations: [good, { subject: bob, action: write, resource: first }] }, [true, false]],
  [
    '3.2.6',
    {
      subject: alice,
      action: read,
      context: { time: context.time },
      evaluations: [{ resource: first }, { resource: second, context: { source: 'batch-override' } }],
    },
    [true, null],
  ],
  [
    '3.2.7',
    { subject: alice, action: write, resource: kept, evaluations: [{}, { resource: stored }] },
    [true, false],
  ],
  [
    '3.4.1',
    {
      subject: alice,
      action: read,
      options: { evaluations_semantic: 'execute_all' },
      evaluations: [{ resource: first }, {}],
    },
    [true, false],
  ],
];

/** Requests to the batch endpoint without evaluations: the reply is one decision. */
export const single: readonly (readonly [string, object])[] = [
  ['3.4.2', good],
  ['3.4.3', { ...good, evaluations: [] }],
];

const ids = ['A2', 'E2', 'I2', 'M2', 'Q2'].map(
  (part) => `CiRmZD${part}MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs`,
);
const emails = ['rick@the-citadel.com', 'morty@the-citadel.com', 'summer@the-smiths.com'];
emails.push('beth@the-smiths.com', 'jerry@the-smiths.com');

const todoOf = (owner: number) => ({
  type: 'todo',
  id: `7240d0db-8ff0-41ec-98b2-34a09627${['3b92', '3b91', '3b93', '3b94', '3b95'][owner]}`,
  properties: { ownerID: emails[owner] },
});

const [anyTodo, rickToo] = [{ type: 'todo', id: 'todo-1' }, [1, 1, 2, 3, 4]];
const user = (who: number) => ({ type: 'user', id: ids[who] });
const readUsers = [0, 1, 2, 3, 4].map((who) => [emails[3], emails[who]] as const);

/** Evaluations of each of five people: two users, the todos, a new todo, one of Rick's, one of their own. */
export const todos: readonly (readonly [object, boolean])[] = [0, 1, 2, 3, 4].flatMap((who) => {
  const ask = (name: string, resource: object) => ({ subject: user(who), action: { name }, resource });
  const [isRick, isEditor] = [who === 0, who < 3];
  const changes = ['can_update_todo', 'can_delete_todo'].flatMap((name) => [
    [ask(name, todoOf(0)), isRick] as const,
    [ask(name, todoOf(rickToo[who] ?? 0)), isEditor] as const,
  ]);
  return [
    ...(readUsers[who] ?? []).map((id) => [ask('can_read_user', { type: 'user', id }), true] as const),
    [ask('can_read_todos', anyTodo), true] as const,
    [ask('can_create_todo', anyTodo), isEditor] as const,
    ...changes,
  ];
});

const updates = (who: number, owners: readonly number[]) => ({
  subject: user(who),
  action: { name: 'can_update_todo' },
  evaluations: owners.map((owner) => ({ resource: todoOf(owner) })),
});

export const todoBatches: readonly (readonly [object, readonly boolean[]])[] = [
  [updates(0, [0, 4]), [true, true]],
  [updates(1, [0, 1]), [false, true]],
  [updates(4, [0, 4]), [false, false]],
];

const routes = [
  ['GET', '/users/{userId}'],
  ['GET', '/todos'],
  ['POST', '/todos'],
  ['PUT', '/todos/{todoId}'],
  ['DELETE', '/todos/{todoId}'],
] as const;

export const gateway: readonly (readonly [object, boolean])[] = [0, 1, 2, 3, 4].flatMap((who) =>
  routes.map(
    ([name, id]) =>
      [
        { subject: { type: 'identity', id: ids[who] }, action: { name }, resource: { type: 'route', id } },
        name === 'GET' || who < 3,
      ] as const,
  ),
);
