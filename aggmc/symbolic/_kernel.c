/* The native engine: images and saturation on dd's own CUDD manager.
 *
 * Nothing of CUDD is linked. dd's shared object exports all of CUDD, its internals too, and `Kernel(...)` looks the few
 * functions up that are needed. So our recursive operations are written as CUDD's own are: they make nodes through its
 * unique table and remember results in its computed table, which lives and dies with its garbage collection.
 *
 * What is assumed of dd and CUDD (the manager's address inside a `BDD` object, the layout of a node) is verified
 * without following a pointer that may be wrong: memory is read through the kernel of the operating system, which
 * refuses an address that is not mapped.
 *
 * Conventions.
 *   - Every function that returns a node returns a *reference that the caller owns*, or NULL (`Run.failure` says why).
 *   - Bit k of a state has the variable x_k and, right below it, y_k, its value after a step. A relation R speaks of x
 *     (read) and y (written). `writes` is the cube of the y that are written, followed by the *key* of the list of
 *     events, a cube of variables below all others: so a node names what is still to be written, and the list. Cached
 *     results must name both (two filters give two lists), and by nodes that are alive.
 *   - "level" is that of a bit's x.
 *
 * Saturation is after Ciardo, Lüttgen, Siminiceanu (TACAS 2001): saturate(S, i) closes S under the events whose first
 * level is levels[i] or below. A node's children are saturated, then the events of its level are fired one after the
 * other, and so on until nothing is added. (The original saturates the nodes that a firing creates before the firing
 * ends. On bits, where a variable is spread over several levels, that was up to a hundred times slower.)
 */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct Node {
    uint32_t index;
    uint32_t ref;
    struct Node *next;
    struct Node *high;
    struct Node *low;
} Node;

typedef struct Manager Manager; /* CUDD's; never looked into, but for `one` when the kernel is made */

enum { MANAGER_OFFSET = 24, ONE_OFFSET = 32 }; /* of BDD.manager (a Python object), of DdManager.one */
#define CONST_INDEX 0x7fffffffu

/* Tags that CUDD's own cached operations do not use. */
enum { TAG_IMAGE = 0xa6, TAG_PREIMAGE = 0xaa, TAG_SATURATE = 0xae, TAG_FIRE = 0xce, TAG_IMAGES = 0xc6, TAG_PREIMAGES = 0xca };

static struct {
    Node *(*unique)(Manager *, int, Node *, Node *);
    Node *(*lookup)(Manager *, uintptr_t, Node *, Node *, Node *);
    void (*insert)(Manager *, uintptr_t, Node *, Node *, Node *, Node *);
    Node *(*and_recur)(Manager *, Node *, Node *);
    void (*deref)(Manager *, Node *);
    int (*perm)(Manager *, int);
    int (*size)(Manager *);
    Node *(*one)(Manager *);
    Node *(*var)(Manager *, int);
    int (*dag_size)(Node *);
    long (*node_count)(Manager *);
    void *(*group)(Manager *, unsigned, unsigned, unsigned);
    int (*error_code)(Manager *);
    void (*clear_error)(Manager *);
} cudd;

static int loaded = 0;

/* --- nodes ----------------------------------------------------------------------------------------------------- */

static inline Node *not_(Node *n) { return (Node *)((uintptr_t)n ^ 1); }
static inline Node *regular(Node *n) { return (Node *)((uintptr_t)n & ~(uintptr_t)1); }
static inline int negated(const Node *n) { return (int)((uintptr_t)n & 1); }
static inline Node *negated_if(Node *n, int c) { return (Node *)((uintptr_t)n ^ (uintptr_t)c); }

typedef enum { FINE, OUT_OF_MEMORY, INTERRUPTED, OUT_OF_STACK } Failure;

typedef struct {
    Node *relation;
    Node *writes;
} Event;

typedef struct {
    PyObject_HEAD
    PyObject *bdd; /* keeps the manager alive */
    Manager *manager;
    Node *one;
} Kernel;

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    PyObject *functions; /* keeps the nodes below alive */
    Node *key;
    int key_level;   /* levels from here on belong to keys */
    int variables;   /* of the manager */
    int *level_of;   /* variable index -> its own level */
    int *index_at;   /* level -> variable index */
    int level_count; /* levels at which an event begins */
    int *levels;
    int *first; /* levels[i]: events first[i] .. first[i + 1] - 1 */
    Event *events;
    int stays; /* one of the events is the step from every state to itself */
} Events;

/* One call of the kernel: where failures are kept, and how it is interrupted. */
typedef struct {
    Events *list;
    Manager *manager;
    Node *one;
    Failure failure;
    unsigned long steps;
    int own_thread; /* then signals are looked at by the thread that waits */
    volatile int *cancel;
} Run;

static inline Node *own(Node *n) {
    regular(n)->ref++;
    return n;
}

static inline void drop(Run *run, Node *n) { cudd.deref(run->manager, n); }

static inline int level(const Run *run, const Node *n) {
    uint32_t index = ((Node *)((uintptr_t)n & ~(uintptr_t)1))->index;
    return index == CONST_INDEX ? INT_MAX : run->list->level_of[index];
}

/* The level of the bit (that of its x) that a node of a set, a relation or a cube of y speaks of first. */
static inline int bit_level(const Run *run, const Node *n) {
    int own_level = level(run, n);
    return own_level >= run->list->key_level ? INT_MAX : own_level & ~1;
}

static inline void cofactors(Node *n, int here, Node **low, Node **high) {
    if (!here) {
        *low = *high = n;
    } else {
        Node *r = regular(n);
        int c = negated(n);
        *low = negated_if(r->low, c);
        *high = negated_if(r->high, c);
    }
}

static Node *failed(Run *run, Failure why) {
    if (run->failure == FINE) run->failure = why;
    return NULL;
}

static int stopped(Run *run) {
    if (++run->steps & 0x1fff) return 0;
    if (*run->cancel || (!run->own_thread && PyErr_CheckSignals() != 0)) {
        failed(run, INTERRUPTED);
        return 1;
    }
    return 0;
}

static Node *and_(Run *run, Node *a, Node *b) {
    Node *r = cudd.and_recur(run->manager, a, b);
    return r == NULL ? failed(run, OUT_OF_MEMORY) : own(r);
}

static Node *or_(Run *run, Node *a, Node *b) {
    Node *r = cudd.and_recur(run->manager, not_(a), not_(b));
    return r == NULL ? failed(run, OUT_OF_MEMORY) : own(not_(r));
}

/* Give up a reference that is not the last one: to a constant, or to a node that is owned twice. */
static inline void drop_one_of_many(Node *n) { regular(n)->ref--; }

/* a ∪ b, taking both. */
static Node *united(Run *run, Node *a, Node *b) {
    Node *zero = not_(run->one), *r = NULL;
    if (a != NULL && b != NULL) {
        if (a == zero || a == b) {
            drop_one_of_many(a);
            return b;
        }
        if (b == zero) {
            drop_one_of_many(b);
            return a;
        }
        r = or_(run, a, b);
    }
    if (a != NULL) drop(run, a);
    if (b != NULL) drop(run, b);
    return r;
}

/* The node (x at this level, high, low), taking both children. */
static Node *made(Run *run, int at_level, Node *high, Node *low) {
    Node *r = NULL;
    if (high != NULL && low != NULL) {
        if (high == low) {
            drop(run, low);
            return high;
        }
        int c = negated(high);
        r = cudd.unique(run->manager, run->list->index_at[at_level], negated_if(high, c), negated_if(low, c));
        if (r == NULL)
            failed(run, OUT_OF_MEMORY);
        else
            own(r = negated_if(r, c));
    }
    if (high != NULL) drop(run, high);
    if (low != NULL) drop(run, low);
    return r;
}

static inline Node *cached(Run *run, uintptr_t tag, Node *f, Node *g, Node *h) {
    Node *r = cudd.lookup(run->manager, tag, f, g, h);
    return r == NULL ? NULL : own(r);
}

static inline Node *remember(Run *run, uintptr_t tag, Node *f, Node *g, Node *h, Node *r) {
    if (r != NULL) cudd.insert(run->manager, tag, f, g, h, r);
    return r;
}

/* The part of a cube of writes from a level on. */
static inline Node *writes_from(const Run *run, Node *w, int l) {
    while (bit_level(run, w) < l) w = w->high;
    return w;
}

/* --- one relation ---------------------------------------------------------------------------------------------- */

static Node *image(Run *run, Node *s, Node *r, Node *w);
static Node *preimage(Run *run, Node *s, Node *r, Node *w);

/* Most branches end here: no call for them. */
static inline Node *related_below(Run *run, Node *s, Node *r, Node *w, int forwards) {
    Node *zero = not_(run->one);
    if (s == zero || r == zero) return own(zero);
    return forwards ? image(run, s, r, w) : preimage(run, s, r, w);
}

/* The image of S under R, or the preimage: then the targets are in S, and r01 (from 0 to 1) serves where r10 did. */
static inline Node *related(Run *run, Node *s, Node *r, Node *w, int forwards) {
    Node *one = run->one, *zero = not_(one);
    if (s == zero || r == zero) return own(zero);
    int ls = bit_level(run, s), lr = bit_level(run, r);
    int l = ls < lr ? ls : lr;
    w = writes_from(run, w, l);
    if (bit_level(run, w) == INT_MAX) return and_(run, s, r); /* from here on r only reads */
    if (l == INT_MAX) return own(one); /* everything goes everywhere */
    uintptr_t tag = forwards ? TAG_IMAGE : TAG_PREIMAGE;
    Node *result = cached(run, tag, s, r, w);
    if (result != NULL) return result;
    if (stopped(run)) return NULL;
    Node *s0, *s1, *r0, *r1, *low, *high;
    cofactors(s, ls == l, &s0, &s1);
    cofactors(r, level(run, r) == l, &r0, &r1);
    if (bit_level(run, w) == l) {
        Node *r00, *r01, *r10, *r11, *rest = w->high;
        cofactors(r0, level(run, r0) == l + 1, &r00, &r01);
        cofactors(r1, level(run, r1) == l + 1, &r10, &r11);
        low = related_below(run, s0, r00, rest, forwards);
        if (low == NULL) return NULL;
        low = united(run, low, related_below(run, s1, forwards ? r10 : r01, rest, forwards));
        if (low == NULL) return NULL;
        high = related_below(run, s0, forwards ? r01 : r10, rest, forwards);
        if (high != NULL) high = united(run, high, related_below(run, s1, r11, rest, forwards));
    } else {
        low = related_below(run, s0, r0, w, forwards);
        if (low == NULL) return NULL;
        high = related_below(run, s1, r1, w, forwards);
    }
    return remember(run, tag, s, r, w, made(run, l, high, low));
}

static Node *image(Run *run, Node *s, Node *r, Node *w) { return related(run, s, r, w, 1); }
static Node *preimage(Run *run, Node *s, Node *r, Node *w) { return related(run, s, r, w, 0); }

/* --- all relations of a list, in one pass ------------------------------------------------------------------------ */

typedef Node *(*Step)(Run *, Node *, Node *, Node *);

/* The union of the images (or preimages) under the events whose first level is levels[i] or below. */
static Node *steps(Run *run, Node *s, int i, Step step, uintptr_t tag) {
    Events *list = run->list;
    Node *zero = not_(run->one);
    if (i == list->level_count || s == zero) return own(zero);
    int l = list->levels[i], ls = bit_level(run, s);
    Node *place = cudd.var(run->manager, list->index_at[l]);
    Node *result = cached(run, tag, s, place, list->key);
    if (result != NULL) return result;
    if (stopped(run)) return NULL;
    int here = ls < l ? ls : l;
    int next = ls < l ? i : i + 1;
    Node *s0, *s1;
    cofactors(s, ls == here, &s0, &s1);
    Node *low = steps(run, s0, next, step, tag);
    if (low == NULL) return NULL;
    Node *high = s0 == s1 ? own(low) : steps(run, s1, next, step, tag);
    result = made(run, here, high, low);
    if (here == l)
        for (int e = list->first[i]; result != NULL && e < list->first[i + 1]; e++)
            result = united(run, result, step(run, s, list->events[e].relation, list->events[e].writes));
    return remember(run, tag, s, place, list->key, result);
}

/* --- saturation -------------------------------------------------------------------------------------------------- */

static Node *saturate(Run *run, Node *s, int i);

/* The node over saturated children (taken) of the level levels[i], saturated. */
static Node *saturated(Run *run, Node *low, Node *high, int i) {
    Events *list = run->list;
    int l = list->levels[i];
    Node *s = made(run, l, high, low);
    while (s != NULL) {
        Node *before = own(s);
        for (int e = list->first[i]; s != NULL && e < list->first[i + 1]; e++)
            s = united(run, s, image(run, s, list->events[e].relation, list->events[e].writes));
        int stable = s == before;
        drop(run, before);
        if (s == NULL || stable) return s;
        Node *s0, *s1;
        cofactors(s, bit_level(run, s) == l, &s0, &s1);
        low = saturate(run, s0, i + 1);
        high = low == NULL ? NULL : s0 == s1 ? own(low) : saturate(run, s1, i + 1);
        drop(run, s);
        if (low != NULL && high == NULL) {
            drop(run, low);
            return NULL;
        }
        s = low == NULL ? NULL : made(run, l, high, low);
    }
    return NULL;
}

static Node *saturate(Run *run, Node *s, int i) {
    Events *list = run->list;
    if (i == list->level_count || regular(s) == run->one) return own(s);
    int l = list->levels[i], ls = bit_level(run, s);
    Node *place = cudd.var(run->manager, list->index_at[l]);
    Node *result = cached(run, TAG_SATURATE, s, place, list->key);
    if (result != NULL) return result;
    if (stopped(run)) return NULL;
    int here = ls < l ? ls : l;
    int next = ls < l ? i : i + 1;
    Node *s0, *s1;
    cofactors(s, ls == here, &s0, &s1);
    Node *low = saturate(run, s0, next);
    if (low == NULL) return NULL;
    Node *high = s0 == s1 ? own(low) : saturate(run, s1, next);
    if (high == NULL) {
        drop(run, low);
        return NULL;
    }
    result = here == l ? saturated(run, low, high, i) : made(run, here, high, low);
    return remember(run, TAG_SATURATE, s, place, list->key, result);
}

/* S and what the events of the level levels[i] add to it, one after the other: each node there is visited once. */
static Node *fired(Run *run, Node *s, int i) {
    Events *list = run->list;
    if (regular(s) == run->one) return own(s);
    int l = list->levels[i], ls = bit_level(run, s);
    Node *place = cudd.var(run->manager, list->index_at[l]);
    Node *result = cached(run, TAG_FIRE, s, place, list->key);
    if (result != NULL) return result;
    if (stopped(run)) return NULL;
    if (ls < l) {
        Node *s0, *s1;
        cofactors(s, 1, &s0, &s1);
        Node *low = fired(run, s0, i);
        if (low == NULL) return NULL;
        result = made(run, ls, fired(run, s1, i), low);
    } else {
        result = own(s);
        for (int e = list->first[i]; result != NULL && e < list->first[i + 1]; e++)
            result = united(run, result, image(run, result, list->events[e].relation, list->events[e].writes));
    }
    return remember(run, TAG_FIRE, s, place, list->key, result);
}

/* The same from the last level upwards, on the whole set, until it has more than `most` nodes: then what was found so
 * far, and *finished = 0. A set is a function of its states alone, so that where this stops does not depend on what the
 * computed table happens to remember: the same input gives the same order of variables, and the same output. */
static Node *saturate_up_to(Run *run, Node *s, int most, int *finished) {
    enum { PAUSES = 64 }; /* levels at which it may stop: with thousands of them, a walk for each would take too long */
    Events *list = run->list;
    int last = list->level_count - 1, stride = list->level_count / PAUSES + 1;
    own(s);
    for (int i = last - last % stride; s != NULL && i >= 0; i -= stride) {
        Node *below = saturate(run, s, i + 1);
        drop(run, s);
        s = below;
        while (s != NULL) {
            Node *more = fired(run, s, i);
            int stable = more == s;
            drop(run, s);
            s = more;
            if (s == NULL || stable) break;
            Node *closed = saturate(run, s, i + 1);
            drop(run, s);
            s = closed;
            if (s != NULL && cudd.dag_size(s) > most) {
                *finished = 0;
                return s;
            }
        }
    }
    return s;
}

/* --- fair cycles ------------------------------------------------------------------------------------------------- */

/* A kind of step that must be taken again and again: an event of the list from one of the sources, or resting in one
 * of the loops (dead states, which have a step to themselves). */
typedef struct {
    Events *list;
    Node *sources, *loops;
} Demand;

/* The targets in z of the demanded steps from z. */
static Node *demanded(Run *run, Node *z, const Demand *demand) {
    Events *inside = run->list;
    Node *sources = and_(run, z, demand->sources);
    if (sources == NULL) return NULL;
    run->list = demand->list;
    Node *reached = steps(run, sources, 0, image, TAG_IMAGES);
    run->list = inside;
    if (reached != NULL && demand->list->stays) reached = united(run, reached, own(sources));
    drop(run, sources);
    if (reached != NULL) reached = united(run, reached, own(demand->loops));
    if (reached == NULL) return NULL;
    Node *kept = and_(run, z, reached);
    drop(run, reached);
    return kept;
}

/* Whether no event leaves z; -1 on failure. */
static int is_closed(Run *run, Node *z) {
    Node *reached = steps(run, z, 0, image, TAG_IMAGES);
    if (reached == NULL) return -1;
    Node *outside = and_(run, reached, not_(z));
    drop(run, reached);
    if (outside == NULL) return -1;
    drop(run, outside);
    return outside == not_(run->one);
}

/* What x (taken), a part of z, reaches by events inside z. */
static Node *spread(Run *run, Node *x, Node *z) {
    Node *front = own(x), *zero = not_(run->one);
    while (front != NULL && front != zero) {
        Node *next = steps(run, front, 0, image, TAG_IMAGES);
        drop(run, front);
        front = NULL;
        if (next == NULL) break;
        Node *fresh = and_(run, next, not_(x));
        drop(run, next);
        if (fresh == NULL) break;
        front = and_(run, fresh, z);
        drop(run, fresh);
        if (front == NULL) break;
        Node *wider = or_(run, x, front);
        drop(run, x);
        x = wider;
        if (x == NULL) {
            drop(run, front);
            return NULL;
        }
    }
    if (front == NULL) {
        drop(run, x);
        return NULL;
    }
    drop(run, front);
    return x;
}

/* The greatest Z in s such that, for each demand, every state of Z is reached inside Z from a demanded step inside Z.
 * Going back from any state of it never ends, and meets all demands again and again: so Z is empty unless there is a
 * fair cycle, and every state of Z can be reached from one.
 * A subset of the form post(Z) or closure(post(Z)) of a closed set is closed: there saturation may close. */
static Node *hull(Run *run, Node *s, const Demand *demands, Py_ssize_t count) {
    Node *z = own(s), *zero = not_(run->one);
    int closed = -1; /* not known */
    Py_ssize_t unchanged = 0;
    for (Py_ssize_t i = 0; unchanged < count && z != zero; i = (i + 1) % count) {
        const Demand *demand = &demands[i];
        Node *x = demanded(run, z, demand);
        int every = demand->list == run->list && demand->sources == run->one; /* then x reaches nothing else in z */
        if (x != NULL && x != z && x != zero && !every) {
            if (closed < 0) closed = is_closed(run, z);
            if (closed > 0) {
                Node *reached = saturate(run, x, 0);
                drop(run, x);
                x = reached;
            } else if (closed == 0) {
                x = spread(run, x, z);
            }
        }
        if (run->failure != FINE || x == NULL) {
            if (x != NULL) drop(run, x);
            drop(run, z);
            return NULL;
        }
        unchanged = x == z ? unchanged + 1 : 0;
        drop(run, z);
        z = x;
    }
    return z;
}

/* --- calls from Python --------------------------------------------------------------------------------------------- */

typedef enum { CLOSURE, BOUNDED_CLOSURE, IMAGE, PREIMAGE, HULL } What;

typedef struct {
    Run run;
    What what;
    Node *states, *result;
    const Demand *demands;
    Py_ssize_t demand_count;
    int most, finished; /* of a bounded closure */
} Call;

static void carry_out(Call *call) {
    Run *run = &call->run;
    switch (call->what) {
    case CLOSURE:
        call->result = saturate(run, call->states, 0);
        break;
    case BOUNDED_CLOSURE:
        call->result = saturate_up_to(run, call->states, call->most, &call->finished);
        break;
    case IMAGE:
        call->result = steps(run, call->states, 0, image, TAG_IMAGES);
        break;
    case PREIMAGE:
        call->result = steps(run, call->states, 0, preimage, TAG_PREIMAGES);
        break;
    case HULL:
        call->result = hull(run, call->states, call->demands, call->demand_count);
        return;
    }
    if (run->list->stays && call->result != NULL) call->result = united(run, call->result, own(call->states));
}

typedef struct {
    Call *call;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
} Thread;

static void *in_thread(void *argument) {
    Thread *thread = argument;
    carry_out(thread->call);
    pthread_mutex_lock(&thread->lock);
    thread->done = 1;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

/* The recursion is as deep as there are levels: beyond what a usual stack carries, a thread with a large one does it.
 * The caller waits with the GIL held, so that nothing else touches the manager, and looks for signals meanwhile. */
static void carry_out_deep(Call *call, size_t stack, volatile int *cancel) {
    Thread thread = {.call = call, .done = 0};
    pthread_attr_t attributes;
    pthread_t id;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&thread.lock, NULL);
    pthread_cond_init(&thread.changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_init(&attributes);
    int refused = pthread_attr_setstacksize(&attributes, stack);
    call->run.own_thread = 1;
    if (!refused) refused = pthread_create(&id, &attributes, in_thread, &thread);
    pthread_attr_destroy(&attributes);
    if (refused) {
        failed(&call->run, OUT_OF_STACK);
    } else {
        pthread_mutex_lock(&thread.lock);
        while (!thread.done) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += 100000000;
            if (until.tv_nsec >= 1000000000) {
                until.tv_sec++;
                until.tv_nsec -= 1000000000;
            }
            pthread_cond_timedwait(&thread.changed, &thread.lock, &until);
            if (!thread.done) {
                pthread_mutex_unlock(&thread.lock);
                if (PyErr_CheckSignals() != 0) *cancel = 1;
                pthread_mutex_lock(&thread.lock);
            }
        }
        pthread_mutex_unlock(&thread.lock);
        pthread_join(id, NULL);
    }
    pthread_mutex_destroy(&thread.lock);
    pthread_cond_destroy(&thread.changed);
}

enum { SHALLOW = 4000, BYTES_PER_LEVEL = 2048 }; /* levels that any stack carries; what one may need elsewhere */

static Node *node_of(Kernel *kernel, PyObject *function) {
    PyObject *bdd = PyObject_GetAttrString(function, "bdd");
    if (bdd == NULL) return NULL;
    Py_DECREF(bdd);
    if (bdd != kernel->bdd) {
        PyErr_SetString(PyExc_ValueError, "a set of another manager");
        return NULL;
    }
    PyObject *number = PyNumber_Long(function);
    if (number == NULL) return NULL;
    Py_ssize_t address = PyLong_AsSsize_t(number);
    Py_DECREF(number);
    if (address == -1 && PyErr_Occurred()) return NULL;
    return (Node *)(address - 2); /* dd adds 2 */
}

static PyObject *function_of(Kernel *kernel, Node *node) {
    return PyObject_CallMethod(kernel->bdd, "_add_int", "n", (Py_ssize_t)(uintptr_t)node + 2);
}

static PyObject *called(Events *list, Call call, PyObject *states) {
    Kernel *kernel = list->kernel;
    volatile int cancel = 0;
    call.run = (Run){.list = list, .manager = kernel->manager, .one = kernel->one, .failure = FINE, .cancel = &cancel};
    call.states = node_of(kernel, states);
    if (call.states == NULL) return NULL;
    if (cudd.size(kernel->manager) != list->variables) {
        PyErr_SetString(PyExc_RuntimeError, "variables were declared after the list of events was made");
        return NULL;
    }
    if (list->key_level <= SHALLOW)
        carry_out(&call);
    else
        carry_out_deep(&call, (size_t)list->key_level * BYTES_PER_LEVEL + (64u << 20), &cancel);
    Node *result = call.result;
    if (result == NULL) {
        cudd.clear_error(kernel->manager);
        if (call.run.failure == INTERRUPTED) {
            if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        } else if (call.run.failure == OUT_OF_STACK) {
            PyErr_SetString(PyExc_RecursionError, "no memory for a stack");
        } else {
            PyErr_NoMemory();
        }
        return NULL;
    }
    PyObject *function = PyErr_Occurred() ? NULL : function_of(kernel, result);
    cudd.deref(kernel->manager, result);
    if (call.what == BOUNDED_CLOSURE && function != NULL) return Py_BuildValue("(NN)", function, PyBool_FromLong(call.finished));
    return function;
}

static PyObject *events_closure(Events *self, PyObject *states) { return called(self, (Call){.what = CLOSURE}, states); }
static PyObject *events_image(Events *self, PyObject *states) { return called(self, (Call){.what = IMAGE}, states); }
static PyObject *events_preimage(Events *self, PyObject *states) { return called(self, (Call){.what = PREIMAGE}, states); }

static PyObject *events_closure_up_to(Events *self, PyObject *arguments) {
    PyObject *states;
    Call call = {.what = BOUNDED_CLOSURE, .finished = 1};
    if (!PyArg_ParseTuple(arguments, "Oi", &states, &call.most)) return NULL;
    return called(self, call, states);
}

static PyTypeObject *events_type = NULL;

static PyObject *events_hull(Events *self, PyObject *arguments) {
    PyObject *states, *given, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "OO", &states, &given)) return NULL;
    PyObject *kept = PySequence_Tuple(given);
    if (kept == NULL) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(kept);
    Demand *demands = PyMem_Calloc((size_t)count + 1, sizeof(Demand));
    if (demands == NULL) PyErr_NoMemory();
    for (Py_ssize_t i = 0; demands != NULL && i < count; i++) {
        PyObject *list, *sources, *loops;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(kept, i), "O!OO", events_type, &list, &sources, &loops)) goto done;
        demands[i].list = (Events *)list;
        if (demands[i].list->kernel->manager != self->kernel->manager || demands[i].list->variables != self->variables) {
            PyErr_SetString(PyExc_ValueError, "a list of events of another manager, or of another time");
            goto done;
        }
        if ((demands[i].sources = node_of(self->kernel, sources)) == NULL) goto done;
        if ((demands[i].loops = node_of(self->kernel, loops)) == NULL) goto done;
    }
    if (demands != NULL) result = called(self, (Call){.what = HULL, .demands = demands, .demand_count = count}, states);
done:
    PyMem_Free(demands);
    Py_DECREF(kept);
    return result;
}

static void events_dealloc(Events *self) {
    PyMem_Free(self->level_of);
    PyMem_Free(self->index_at);
    PyMem_Free(self->levels);
    PyMem_Free(self->first);
    PyMem_Free(self->events);
    Py_XDECREF(self->functions);
    Py_XDECREF(self->kernel);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef events_methods[] = {
    {"closure", (PyCFunction)events_closure, METH_O, "The least superset that is closed under the events."},
    {"closure_up_to", (PyCFunction)events_closure_up_to, METH_VARARGS,
     "closure_up_to(states, most): the closure and True; or, once it has more than `most` nodes, what has been found of\n"
     "it so far, and False."},
    {"image", (PyCFunction)events_image, METH_O, "The successors under all events."},
    {"preimage", (PyCFunction)events_preimage, METH_O, "The predecessors under all events."},
    {"hull", (PyCFunction)events_hull, METH_VARARGS,
     "hull(states, demands): the states of the set that a fair cycle in it leads to; a demand is a list of events, the\n"
     "states from which they meet it, and states that meet it by resting."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot events_slots[] = {
    {Py_tp_dealloc, events_dealloc},
    {Py_tp_methods, events_methods},
    {Py_tp_doc, "A list of events; made by Kernel.events."},
    {0, NULL},
};

static PyType_Spec events_spec = {
    .name = "aggmc.symbolic._kernel.Events",
    .basicsize = sizeof(Events),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = events_slots,
};

/* --- lists of events ------------------------------------------------------------------------------------------------ */

/* Kernel.events(pairs, key, key_level): pairs of Functions (relation, cube of the y written and the key). */
static PyObject *kernel_events(Kernel *self, PyObject *arguments) {
    PyObject *pairs, *key;
    int key_level;
    if (!PyArg_ParseTuple(arguments, "OOi", &pairs, &key, &key_level)) return NULL;
    PyObject *kept = PySequence_Tuple(pairs);
    if (kept == NULL) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(kept);
    Events *list = (Events *)events_type->tp_alloc(events_type, 0);
    if (list == NULL) {
        Py_DECREF(kept);
        return NULL;
    }
    Py_INCREF(self);
    list->kernel = self;
    list->functions = Py_BuildValue("(NO)", kept, key);
    if (list->functions == NULL) goto fail;
    list->key = node_of(self, key);
    if (list->key == NULL) goto fail;
    int n = list->variables = cudd.size(self->manager);
    list->key_level = key_level;
    list->level_of = PyMem_Calloc((size_t)n + 1, sizeof(int));
    list->index_at = PyMem_Calloc((size_t)n + 1, sizeof(int));
    list->levels = PyMem_Calloc((size_t)count + 1, sizeof(int));
    list->first = PyMem_Calloc((size_t)count + 2, sizeof(int));
    list->events = PyMem_Calloc((size_t)count + 1, sizeof(Event));
    if (!list->level_of || !list->index_at || !list->levels || !list->first || !list->events) {
        PyErr_NoMemory();
        goto fail;
    }
    for (int index = 0; index < n; index++) {
        int l = cudd.perm(self->manager, index);
        list->level_of[index] = l;
        list->index_at[l] = index;
    }
    Run run = {.list = list};
    int *tops = PyMem_Calloc((size_t)count + 1, sizeof(int));
    Event *given = PyMem_Calloc((size_t)count + 1, sizeof(Event));
    int *starts = PyMem_Calloc((size_t)n + 2, sizeof(int));
    if (!tops || !given || !starts) {
        PyErr_NoMemory();
        goto unsorted;
    }
    for (Py_ssize_t e = 0; e < count; e++) {
        PyObject *relation, *writes;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(kept, e), "OO", &relation, &writes)) goto unsorted;
        given[e].relation = node_of(self, relation);
        given[e].writes = given[e].relation == NULL ? NULL : node_of(self, writes);
        if (given[e].writes == NULL) goto unsorted;
        int lr = bit_level(&run, given[e].relation), lw = bit_level(&run, given[e].writes);
        tops[e] = lr < lw ? lr : lw;
        if (tops[e] != INT_MAX)
            starts[tops[e] + 1]++;
        else if (given[e].relation == self->one)
            list->stays = 1;
    }
    /* a stable sort by level: the order in which events are given is kept, for the sake of determinism */
    for (int l = 0; l < n; l++) starts[l + 1] += starts[l];
    int placed = 0;
    for (Py_ssize_t e = 0; e < count; e++)
        if (tops[e] != INT_MAX) {
            list->events[starts[tops[e]]++] = given[e];
            placed++;
        }
    int last = -1;
    for (int e = 0; e < placed; e++) {
        int lr = bit_level(&run, list->events[e].relation), lw = bit_level(&run, list->events[e].writes);
        int l = lr < lw ? lr : lw;
        if (l != last) {
            list->levels[list->level_count] = l;
            list->first[list->level_count++] = e;
            last = l;
        }
    }
    list->first[list->level_count] = placed;
    PyMem_Free(tops);
    PyMem_Free(given);
    PyMem_Free(starts);
    return (PyObject *)list;
unsorted:
    PyMem_Free(tops);
    PyMem_Free(given);
    PyMem_Free(starts);
fail:
    Py_DECREF(list);
    return NULL;
}

/* --- the kernel ---------------------------------------------------------------------------------------------------- */

/* Reads memory that may not be there; 0 if it is not. */
static int peek(const void *address, void *into, size_t size) {
    struct iovec here = {into, size}, there = {(void *)address, size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static int looked_up(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL) {
        PyErr_Format(PyExc_RuntimeError, "dd's library is not loaded: %s", dlerror());
        return 0;
    }
    struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"cuddUniqueInter", &cudd.unique},
        {"cuddCacheLookup", &cudd.lookup},
        {"cuddCacheInsert", &cudd.insert},
        {"cuddBddAndRecur", &cudd.and_recur},
        {"Cudd_IterDerefBdd", &cudd.deref},
        {"Cudd_ReadPerm", &cudd.perm},
        {"Cudd_ReadSize", &cudd.size},
        {"Cudd_ReadOne", &cudd.one},
        {"Cudd_bddIthVar", &cudd.var},
        {"Cudd_DagSize", &cudd.dag_size},
        {"Cudd_ReadNodeCount", &cudd.node_count},
        {"Cudd_MakeTreeNode", &cudd.group},
        {"Cudd_ReadErrorCode", &cudd.error_code},
        {"Cudd_ClearErrorCode", &cudd.clear_error},
    };
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        void *found = dlsym(handle, wanted[k].name);
        if (found == NULL) {
            PyErr_Format(PyExc_RuntimeError, "dd's library does not export %s", wanted[k].name);
            return 0;
        }
        memcpy(wanted[k].place, &found, sizeof found);
    }
    return 1;
}

static int surprised(const char *what) {
    PyErr_Format(PyExc_RuntimeError, "dd is not as expected: %s", what);
    return 0;
}

static int plausible(Kernel *self, Node *one, Node *variable) {
    Manager *manager;
    Node *its_one, seen;
    if (Py_TYPE(self->bdd)->tp_basicsize < MANAGER_OFFSET + (Py_ssize_t)sizeof manager) return surprised("a BDD object is too small");
    memcpy(&manager, (char *)self->bdd + MANAGER_OFFSET, sizeof manager);
    if (((uintptr_t)manager & 7) != 0 || !peek((char *)manager + ONE_OFFSET, &its_one, sizeof its_one))
        return surprised("there is no manager where it should be");
    if (its_one != one || cudd.one(manager) != one) return surprised("the manager's constant is not dd's");
    if (!peek(one, &seen, sizeof seen) || seen.index != CONST_INDEX) return surprised("the constant is no such node");
    if (negated(variable) || !peek(variable, &seen, sizeof seen)) return surprised("a variable is no such node");
    if (seen.high != one || seen.low != not_(one) || (int)seen.index >= cudd.size(manager))
        return surprised("the layout of a node");
    if (cudd.var(manager, (int)seen.index) != variable) return surprised("a variable's node");
    uint32_t before = variable->ref;
    PyObject *again = PyObject_CallMethod(self->bdd, "_add_int", "n", (Py_ssize_t)(uintptr_t)variable + 2);
    if (again == NULL) return 0;
    uint32_t during = variable->ref;
    Py_DECREF(again);
    /* CUDD counts variables' own references in a way of its own; ours must be seen and must go again */
    if (during != before + 1 || variable->ref != before) return surprised("the count of references");
    self->manager = manager;
    self->one = one;
    return 1;
}

/* Kernel(library, bdd, true, variable) */
static PyObject *kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *library;
    PyObject *bdd, *truth, *variable;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "sOOO", &library, &bdd, &truth, &variable)) return NULL;
    if (!loaded && !(loaded = looked_up(library))) return NULL;
    Kernel *self = (Kernel *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    Py_INCREF(bdd);
    self->bdd = bdd;
    Node *one = node_of(self, truth), *x = one == NULL ? NULL : node_of(self, variable);
    if (x == NULL || !plausible(self, one, x)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void kernel_dealloc(Kernel *self) {
    Py_XDECREF(self->bdd);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Kernel.group(first, count, fixed): variables with these indices move together when the order changes; those of a
 * fixed group keep their order within. A group may lie in another one, made before or after it. */
static PyObject *kernel_group(Kernel *self, PyObject *arguments) {
    unsigned first, count;
    int fixed;
    enum { DEFAULT = 0, FIXED = 4 }; /* MTR_DEFAULT, MTR_FIXED */
    if (!PyArg_ParseTuple(arguments, "IIp", &first, &count, &fixed)) return NULL;
    if (cudd.group(self->manager, first, count, fixed ? FIXED : DEFAULT) == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* Kernel.nodes(): dd's own count looks at every slot of the unique table. */
static PyObject *kernel_nodes(Kernel *self, PyObject *nothing) {
    (void)nothing;
    return PyLong_FromLong(cudd.node_count(self->manager));
}

static PyMethodDef kernel_methods[] = {
    {"nodes", (PyCFunction)kernel_nodes, METH_NOARGS, "How many nodes the manager holds."},
    {"group", (PyCFunction)kernel_group, METH_VARARGS,
     "group(first, count, fixed): variables that stay together when the order changes, in the same order if fixed."},
    {"events", (PyCFunction)kernel_events, METH_VARARGS,
     "events(pairs, key, key_level): a list of events, as pairs of a relation and the cube of what it writes and the key."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, kernel_methods},
    {Py_tp_doc, "Kernel(library, bdd, true, variable): operations on the manager of a dd.cudd.BDD."},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "aggmc.symbolic._kernel.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = kernel_slots,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "Images and saturation on dd's own CUDD manager.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *m = PyModule_Create(&module);
    if (m == NULL) return NULL;
    PyObject *kernel = PyType_FromSpec(&kernel_spec);
    events_type = (PyTypeObject *)PyType_FromSpec(&events_spec);
    if (kernel == NULL || events_type == NULL || PyModule_AddObject(m, "Kernel", kernel) < 0) {
        Py_XDECREF(kernel);
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
