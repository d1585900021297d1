/*
 * Dividing a cluster anew: one workload passes from partition A to partition B while both are synced. Movers, syncs of either partition and the API server interleave in
 * every way; each of them may stop for any time or die between any two steps. There is no lease, as in exactly-once.pml: nothing may depend on it.
 *
 * Time is left out. What exactly-once.pml proves of deadlines stands here as one rule: a later holder settles an intent when its PUT can no longer take effect (`may` is over).
 * The rate limit is the strictest there is: windows allow one scale, ever. So a window that is lost shows as a second effect.
 *
 * Each LEFT_OUT_… macro takes one rule away; docs/protocol-model.md explains them. lib/answers/service/partitions/carry-windows.ts, lib/stack/store/head/moving.ts and lib/stack/sync/moving.ts carry the names.
 */
#define A 0
#define B 1
#ifndef MOVERS
#define MOVERS 1
#endif
#ifndef A_SYNCS
#define A_SYNCS 2                    /* syncs of A at the same moment, one invocation each */
#endif
#ifndef B_ROUNDS
#define B_ROUNDS 2                   /* invocations of the one that syncs B */
#endif
#define INTENTS (A_SYNCS + B_ROUNDS + 1)
#define GENERATIONS (MOVERS + 1)
#define PAGE(p, g) ((p) * GENERATIONS + (g))
#define EPOCHS 12

mtype = { none, applied, refused };  /* outcome of an event; "unknown" counts as applied */
mtype = { not, yes, over };          /* whether the PUT of an intent may take effect */

/* The cluster record: its version, and who decides the workload. */
byte cluster = 1, owner = A;

/* The heads. Each has one possible intent of the workload, the mark of a mover, and names a generation of its page. A is older than B. */
byte epoch[2], writes[2], moving[2], generation[2], intent[2], intentId[2];
bool open[2];

/* The pages: written by which epoch, and whether they hold the windows of the workload with its scale. */
byte pageEpoch[2 * GENERATIONS];
bool counted[2 * GENERATIONS];

/* The history: an event's id is the uid, which is always the same here, and the epoch that stored the intent. */
mtype event[EPOCHS] = none;
byte eventOf[EPOCHS];

/* The truth. */
byte intents = 0, effects = 0;
mtype may[INTENTS] = not;
bool happened[INTENTS];

#define step if :: true :: goto dead fi
#define HOLDER(p) (epoch[p] == mine && writes[p] == seen)
#define MARKED(cv) (mark == cv)

/* The API server executes the PUT of an intent, at any moment while it may, or never. */
proctype Server(byte i) {
end:
  do
  :: atomic { may[i] == yes ->
       /* No PUT of the old partition's holder after the flip, unless the one that decides now counts its intent. */
       assert(open[owner] && intent[owner] == i);
       effects++; happened[i] = true; may[i] = over;
       /* No window was lost. */
       assert(effects == 1) }
  :: atomic { may[i] == yes -> may[i] = over }
  od
}

inline insertEvent() {
  assert(event[id] == none || eventOf[id] == serial);
  assert(outcome != refused || !happened[serial]);
  if
  :: event[id] == none -> event[id] = outcome; eventOf[id] = serial
  :: else -> outcome = event[id]
  fi
}

inline writePage(holds) {
  if
  :: pageEpoch[PAGE(p, g)] == seenPage -> pageEpoch[PAGE(p, g)] = mine; counted[PAGE(p, g)] = holds
  :: else -> goto dead
  fi
}

inline release(clears) {
  if
  :: HOLDER(p) ->
     writes[p]++;
     if
     :: clears && open[p] -> assert(event[intentId[p]] != none); open[p] = false; intent[p] = 0; intentId[p] = 0
     :: else
     fi
  :: else
  fi
}

/* A sync of one partition. */
proctype Sync(byte p; byte rounds) {
  byte mine, seen, mark, g, cv, own, seenPage, serial, id;
  bool old, had;
  mtype outcome;
next:
  atomic {
    mine = 0; seen = 0; mark = 0; g = 0; cv = 0; own = 0; seenPage = 0; serial = 0; id = 0; old = false; had = false; outcome = none;
    if
    :: rounds > 0 -> rounds--
    :: else -> goto finished
    fi
  };

  /* claim. */
  atomic {
    epoch[p]++; mine = epoch[p]; writes[p]++; seen = writes[p];
    mark = moving[p]; g = generation[p]; old = open[p]; serial = intent[p]; id = intentId[p]
  };

  /* load: the cluster. Where namespaces began to move under the version that it still has, that is decided first. */
  atomic { step; cv = cluster; own = owner };
#ifndef LEFT_OUT_LOOK_AT_MARK
  if
  :: MARKED(cv) ->
     atomic { step; if :: cluster == cv -> cluster++ :: else fi };
     atomic { step; cv = cluster; own = owner }
  :: else
  fi;
#endif
  /* load: the page. */
  atomic { step; seenPage = pageEpoch[PAGE(p, g)]; had = counted[PAGE(p, g)] };

  if
  :: old && may[serial] == over -> goto settle
  :: old && may[serial] != over -> atomic { step; release(false) }; goto next
  :: !old && own != p ->
     /* Windows of workloads that others decide are left out. */
     if :: had -> atomic { step; writePage(false) } :: else fi;
     atomic { step; release(false) };
     goto next
  :: !old && own == p && had -> atomic { step; release(false) }; goto next
  :: else
  fi;

  /* intend. */
  atomic { step;
    if
    :: HOLDER(p) ->
       assert(!open[A] && !open[B]);
       intents++; serial = intents; id = mine;
       open[p] = true; intent[p] = serial; intentId[p] = id; writes[p]++; seen = writes[p];
       may[serial] = yes
    :: else -> goto dead
    fi };

  /* act: an answer that is clear, or none. */
  if
  :: may[serial] == over
  :: true -> atomic { step; release(false) }; goto next
  fi;

settle:
  atomic { if :: happened[serial] -> outcome = applied :: else -> outcome = refused fi };
  atomic { step; insertEvent() };
  if
  :: outcome == applied && own == p -> atomic { step; writePage(true) }
  :: else
  fi;
  atomic { step; release(true) };
  goto next;
dead:
  goto next;
finished:
  skip
}

/* Whether the head of a partition is still the mover's, and what it writes there. */
#define MINE(p, e, w) (epoch[p] == e && writes[p] == w)

proctype Mover() {
  byte cv, mineA, seenA, mineB, seenB, top, gB;
  bool copied;
  atomic { cv = cluster; if :: owner == A :: else -> goto dead fi };

  /* lease: claim both; an intent that is open stays where it is counted. */
  atomic { step; epoch[A]++; mineA = epoch[A]; writes[A]++; seenA = writes[A];
#ifndef LEFT_OUT_SETTLED_FIRST
    if :: open[A] -> goto dead :: else fi
#endif
  };
  atomic { step; epoch[B]++; mineB = epoch[B]; writes[B]++; seenB = writes[B]; gB = generation[B] };
#ifndef LEFT_OUT_LOOK_UNDER_LEASE
  /* look again: whoever flipped meanwhile may have moved the same windows. */
  atomic { step; if :: cluster == cv :: else -> goto dead fi };
#endif

  /* mark both with the cluster's version, and raise each epoch to the highest. */
#ifdef LEFT_OUT_EPOCH_RAISE
#define RAISED(e) e
#else
  if :: mineA > mineB -> top = mineA :: else -> top = mineB fi;
#define RAISED(e) top
#endif
#ifndef LEFT_OUT_MARK
  atomic { step;
    if
    :: MINE(A, mineA, seenA) -> moving[A] = cv; epoch[A] = RAISED(mineA); mineA = epoch[A]; writes[A]++; seenA = writes[A]
    :: else -> goto dead
    fi };
#ifndef LEFT_OUT_MARK_OF_TARGET
  atomic { step;
    if
    :: MINE(B, mineB, seenB) -> moving[B] = cv; epoch[B] = RAISED(mineB); mineB = epoch[B]; writes[B]++; seenB = writes[B]
    :: else -> goto dead
    fi };
#endif
#endif

  /* copy into a page of a new generation of B, and name it: where A still has windows of the workload they count, whatever B has. */
  atomic { step; copied = counted[PAGE(A, generation[A])] };
#ifdef LEFT_OUT_COPY
  copied = false;
#endif
  atomic { step;
    if
    :: pageEpoch[PAGE(B, gB + 1)] < mineB -> pageEpoch[PAGE(B, gB + 1)] = mineB; counted[PAGE(B, gB + 1)] = copied
    :: else -> goto dead
    fi };
  atomic { step;
    if
    :: MINE(B, mineB, seenB) -> generation[B] = gB + 1; writes[B]++; seenB = writes[B]
    :: else -> goto dead
    fi };

  /* flip: one write of the cluster, under the version of the mark. */
  atomic { step;
    if
#ifdef LEFT_OUT_VERSION_OF_FLIP
    :: true ->
#else
    :: cluster == cv ->
#endif
       cluster++; owner = B;
       assert(effects == 0 || counted[PAGE(B, generation[B])])
    :: else
    fi };
dead:
  skip
}

init {
  atomic {
    byte i = 1;
    epoch[A] = 1;
    do :: i < INTENTS -> run Server(i); i++ :: else -> break od;
    i = 0;
    do :: i < A_SYNCS -> run Sync(A, 1); i++ :: else -> break od;
    run Sync(B, B_ROUNDS);
    i = 0;
    do :: i < MOVERS -> run Mover(); i++ :: else -> break od
  }
}
