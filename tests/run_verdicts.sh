#!/bin/sh
# SPDX-License-Identifier: MIT
# costate gradient --check: slopes that are right are confirmed where a single difference would mislead, slopes that are wrong are not.
. "$2/tests/begin.sh"
# verdict STATUS MODEL ARGUMENTS... : --check leaves with the status; its JSON is in the file out
verdict() {
    want=$1; shift
    "$costate" gradient "$@" --check --json >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate gradient $* --check: status $got, not $want"
}
# holds EXPRESSION: Python on j, what is printed, c, the check, and v, its verdicts by objective and number
holds() {
    python3 -c "
import json, sys
j = json.load(open('out')); c = j['check']; v = c['verdicts']
sys.exit(0 if ($1) else 1)" 2>>err || fail "not true: $1"
}
# oscillator LAW NUMBERS STEP: a mass with x0 = 0.1, v0 and a law of X and X.rate
oscillator() {
    cat <<END
costate: 1
parameters: {m: 1, x0: 0.1, $2}
bodies: {x: {type: scalar, inertia: m, value: x0, rate: v0}}
measures: {X: {type: coordinate, of: x}}
forces: {f: {type: motor, of: x, torque: "$1"}}
objectives: {e: end(X), i: integral(X^2)}
simulation: {end: 1, step: $3}
END
}

# a switch at an instant of the grid: the two slopes come together with the step, and each of them is right
oscillator "-50*X + if(t > T, 3, 0)" "v0: 0, T: 0.3" "10 ms" >grid.yaml
verdict 0 grid.yaml; holds "v['e']['T'] == v['i']['T'] == 'kink of the steps' and c['confirmed']"
verdict 0 grid.yaml --set T=0.3037; holds "v['e']['T'] == 'agree'"
# so is an integrand that starts on its kink
sed 's/integral(X^2)/integral(abs(X.rate))/' grid.yaml >lone.yaml
verdict 0 lone.yaml --set T=0.3037; holds "v['i']['v0'] == 'kink of the steps'"
# a kink that only the widest difference passes
oscillator "-50*X - 20*clamp(X, -0.03, 0.03)" "v0: 0.3" "5 ms" >clamp.yaml
verdict 0 clamp.yaml; holds "set(v['e'].values()) == {'agree'}"
# two stops 1e-9 m apart: inside of their merging differences say something else
cat >stops.yaml <<'END'
costate: 1
parameters: {a: 0.1003, b: 0.100300001, v: 1, k: 1e4}
bodies: {x: {type: scalar, inertia: 1, value: 0, rate: v}, y: {type: scalar, inertia: 1, value: 0, rate: v}}
measures: {X: {type: coordinate, of: x}, Y: {type: coordinate, of: y}}
forces:
  s: {type: stop, of: x, upper: a, stiffness: k, damping: 10}
  r: {type: stop, of: y, upper: b, stiffness: k, damping: 10}
objectives: {e: end(X + Y)}
simulation: {end: 0.2, step: 1 ms}
END
verdict 0 stops.yaml
# steps that a tolerance chooses: differences over the same steps agree with the gradient, those over steps of their own do not where the
# tolerance is coarse; di/dm is 0.0018676 by 50000 steps, 0.0018642 over the steps of the tolerance 1e-9, 0.0018675 over those of 1e-11
verdict 1 clamp.yaml --formulation index1 --integrator rk45 --tolerance 1e-9; holds "v['i']['m'] == 'DIFFER' and v['e']['m'] == 'agree'"
verdict 0 clamp.yaml --formulation index1 --integrator rk45 --tolerance 1e-11; holds "v['i']['m'] == 'agree'"
# chaos: only narrow differences see the slope
cat >chaos.yaml <<'END'
costate: 1
gravity: [0, -9.81, 0]
parameters: {a: 1, b: 1}
points: {O: [0, 0, 0], P: [a, 0.1, 0], Q: ["a + b", 0.3, 0]}
bodies: {u: {type: bar, from: O, to: P, mass: 1, radius: 0.02}, w: {type: bar, from: P, to: Q, mass: 1, radius: 0.02}}
joints: {j: {type: revolute, between: [ground, u], at: O, axis: z}, k: {type: revolute, between: [u, w], at: P, axis: z}}
measures: {p: {type: position, of: w.Q}}
objectives: {e: end(p.x)}
simulation: {end: 7, step: 10 ms}
END
verdict 0 chaos.yaml --wrt a,b; holds "set(v['e'].values()) == {'agree'}"
# a kink that stays: friction by a comparison that starts on its switch has no slope, but one to each side; the others agree
oscillator "-50*X - if(X.rate > 0, 3, 1)" "v0: 0" "5 ms" >rest.yaml
verdict 0 rest.yaml; holds "v['e']['v0'] == 'two slopes' and c['below']['e']['v0'] > 1.3*c['above']['e']['v0'] > 0 and v['e']['m'] == 'agree'"
# two hinges of a door share its load: what reads one of them has no gradient, whatever it makes of it; both together do
cat >door.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {door: {type: bar, from: A, to: B, mass: 10, radius: 0.02}}
joints: {p: {type: revolute, between: [ground, door], at: A, axis: z}, q: {type: revolute, between: [ground, door], at: [0, 0, 0.5], axis: z}}
measures: {P: {type: reaction, of: p}, Q: {type: reaction, of: q}}
objectives: {square: integral(norm(Q.force)^2), zero: end(Q.torque.x)^2, both: integral((P.force.z + Q.force.z)^2)}
simulation: {end: 0.1, step: 10 ms}
END
verdict 0 door.yaml --wrt door.mass,gravity.z
holds "set(v['square'].values()) == set(v['zero'].values()) == {'refused'} and set(v['both'].values()) == {'agree'}"
# a stop just touched at rest, and left: its bound has no slope, and one of the order of the step to one side
cat >touched.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {z0: 1, z: 1}
points: {O: [0, 0, 0], P: [0, 0, z]}
bodies: {b: {type: point, position: P, mass: 1}}
measures: {p: {type: position, of: b}}
forces: {s: {type: spring, from: ground.O, to: b, stiffness: 100, free_length: 0.5}, f: {type: stop, of: p.z, upper: z0, stiffness: 500}}
objectives: {e: end(p.z), i: integral(p.z^2)}
simulation: {end: 0.2, step: 2 ms}
END
verdict 0 touched.yaml; holds "c['confirmed'] and v['e']['b.mass'] == 'agree'"
# pressed into one with a damper it has two, which stay: the slopes are marked as those of one side
sed 's/upper: z0, stiffness: 500/lower: z0, stiffness: 5000, damping: 50/' touched.yaml >pressed.yaml
verdict 0 pressed.yaml; holds "c['confirmed'] and v['i']['z0'] in ('not settled', 'two slopes') and v['i']['z'] in ('not settled', 'two slopes') and j['effects']['i']['z'].startswith('the slope is that of the side') and v['i']['b.mass'] == 'agree'"
# a vehicle that stands before its bump: dampers of two sides rest on their switch, and all numbers agree
cat >stands.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {m: 300, k: 2e4, c1: 800, c2: 2000, h: 0.05, t0: 0.1007}
roads: {r: {type: rig, height: "h*smoothstep(t, t0, 0.2)"}}
points: {B: [0, 0, 0.5], W: [0, 0, 0.3]}
bodies: {b: {type: rigid, position: B, mass: m, inertia: [10, 10, 10]}, w: {type: rigid, position: W, mass: 30, inertia: [1, 1, 1]}}
joints: {g: {type: prismatic, between: [ground, b], at: B, axis: z}, gw: {type: prismatic, between: [b, w], at: B, axis: z}}
forces:
  s: {type: spring, from: w.W, to: b.B, stiffness: k, free_length: 0.3}
  d: {type: damper, from: w.W, to: b.B, force: "if(v >= 0, c1, c2)*v"}
  t: {type: tire, wheel: w, road: r, radius: 0.3, stiffness: 2e5, damping: 100, axis: y}
measures: {a: {type: acceleration, of: b.com}, p: {type: position, of: b.com}}
initial: {equilibrium: true}
objectives: {c: rms(a.z), e: end(p.z)}
simulation: {end: 0.4, step: 2 ms}
END
verdict 0 stands.yaml --wrt m,k,c1,c2,h,t0,w.mass,gravity.z; holds "set(v['c'].values()) == set(v['e'].values()) == {'agree'}"
# what is zero but for rounding has no identity to break
oscillator "3*sin(2*pi*t/0.5)" "v0: 0" "10 ms" >zero.yaml
sed 's/e: end(X), i: integral(X^2)/e: "at(X.rate, 0.5)", i: integral(X.acceleration)/' zero.yaml >nothing.yaml
verdict 0 nothing.yaml; "$costate" gradient nothing.yaml --check | grep -q FAILS && fail "an identity of nothing fails"
# what stands still, and a load of 0: by the load its speed has two sides, by all else its slopes are rounding, and are not judged by it
cat >still.yaml <<'END'
costate: 1
gravity: [0, 0, -10]
parameters: {k: 300, F: 0}
points: {A: [0, 0, -0.6], O: [0, 0, 0]}
bodies: {m: {type: point, position: A, mass: 2}}
forces:
  s: {type: spring-damper, from: ground.O, to: m, stiffness: k, free_length: 0.5, damping: 3}
  f: {type: force, on: m, direction: z, magnitude: "F*smoothstep(t, 0.1, 0.2)"}
measures: {p: {type: position, of: m}, V: {type: velocity, of: m}, E: {type: energy}}
initial: {equilibrium: true}
objectives: {a: integral(norm(V)), b: integral(sqrt(E.kinetic)), c: end(sqrt(E.kinetic)), d: sqrt(integral(E.kinetic)), e: integral(E.kinetic), g: rms(V.z)}
simulation: {end: 0.4, step: 2 ms}
END
verdict 0 still.yaml; holds "all(v[o]['F'] == 'two slopes' and abs(c['below'][o]['F'] + c['above'][o]['F']) < 1e-4*c['above'][o]['F'] for o in 'abcdg') and all(v[o][n] == 'agree' for o in v for n in v[o] if n != 'F')"
# a filter has the dimension of its input, and its rate that over a time
oscillator "-50*X" "v0: 0.3" "5 ms" | sed 's/^measures.*/&\nblocks: {w: {type: first-order, input: X.rate, time_constant: 40 ms}}/; s/i: integral(X^2)/i: rms(w.rate)/' >filter.yaml
verdict 0 filter.yaml; "$costate" gradient filter.yaml --check | grep -q FAILS && fail "the rate of a filter has lost its unit"
# wrong slopes are found: instants that do not move
oscillator "-50*X - if(X > 0.02, 9, 1)" "v0: 0" "5 ms" >frozen.yaml
verdict 0 frozen.yaml
verdict 1 frozen.yaml --events frozen; holds "v['e']['m'] == 'DIFFER' and not c['confirmed']"
# ... also where another number has a million times its influence
sed 's/parameters: {/parameters: {big: 1e6, /; s/e: end(X)/e: end(X) + big/' frozen.yaml >hidden.yaml
verdict 0 hidden.yaml
verdict 1 hidden.yaml --events frozen; holds "v['e']['m'] == 'DIFFER' and v['e']['big'] == 'agree'"
exit $failed
