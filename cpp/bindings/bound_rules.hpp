// The rules of one instance as Python holds them: the struct the engine reads, the memory it points into, and the verbs
// one call at a time, which `State` and the reference play with.
//
// Every call copies the state into aligned memory of its own, so the caller's bytes never change. A verb that raised and an
// answer that breaks a promise both come out as None: Python then repeats the call interpreted, where the user's own
// exception has its message and its traceback.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "anabranch/rules.hpp"

namespace nb = nanobind;
using namespace anabranch;

inline std::size_t words(std::size_t bytes) { return (bytes + 7) / 8; }

// One instance's rules with the memory its calls need. Calls hold the GIL, so one set of buffers is enough.
class BoundRules {
 public:
  BoundRules(const nb::bytes& instance, std::size_t state_size, std::size_t key_size, std::size_t planes,
             std::int32_t players, std::int32_t actions, std::int32_t outcomes)
      : instance_(words(instance.size())), instance_size_(instance.size()), state_(words(state_size)),
        key_(words(key_size)), ids_(static_cast<std::size_t>(actions > outcomes ? actions : outcomes)),
        joint_(static_cast<std::size_t>(players)), chances_(static_cast<std::size_t>(outcomes)),
        low_(static_cast<std::size_t>(players)), high_(static_cast<std::size_t>(players)) {
    if (players < 1 || players > 62 || actions < 1 || outcomes < 0 || state_size < 1)
      throw std::invalid_argument("sizes of rules must be positive, with at most 62 players");
    std::memcpy(instance_.data(), instance.data(), instance.size());
    rules.instance = instance_.data();
    rules.state_size = state_size;
    rules.key_size = key_size;
    rules.planes = planes;
    rules.players = players;
    rules.actions = actions;
    rules.outcomes = outcomes;
  }
  BoundRules(const BoundRules&) = delete;  // `rules` points into this object
  BoundRules& operator=(const BoundRules&) = delete;

  // Take the address of a compiled verb; `owner` is whatever keeps its code in memory.
  void set(const std::string& verb, std::uintptr_t address, nb::object owner) {
    if (address == 0) throw std::invalid_argument("the address of " + verb + " is null");
    if (verb == "turn") fill(rules.turn, address);
    else if (verb == "legal") fill(rules.legal, address);
    else if (verb == "step") fill(rules.step, address);
    else if (verb == "setup") fill(rules.setup, address);
    else if (verb == "chance") fill(rules.chance, address);
    else if (verb == "draw") fill(rules.draw, address);
    else if (verb == "same") fill(rules.same, address);
    else if (verb == "key") fill(rules.key, address);
    else if (verb == "bounds") fill(rules.bounds, address);
    else if (verb == "event") fill(rules.event, address);
    else if (verb == "rollout_action") fill(rules.rollout_action, address);
    else if (verb == "heuristic") fill(rules.heuristic, address);
    else if (verb == "observe") fill(rules.observe, address);
    else throw std::invalid_argument("no verb is called " + verb);
    owners_.push_back(std::move(owner));
  }

  nb::object setup(std::uint64_t word) {
    std::memset(state_.data(), 0, state_.size() * 8);
    std::int64_t ignored = 0;
    if (rules.setup && !call(rules.setup, ignored, rules, state_.data(), &word)) return nb::none();
    return nb::make_tuple(state(), word);
  }

  nb::object turn(const nb::bytes& data) {
    load(data);
    std::int64_t bits = 0;
    if (!call(needed(rules.turn), bits, rules, state_.data()) || !valid_turn(rules, bits)) return nb::none();
    return nb::int_(bits);
  }

  nb::object legal(const nb::bytes& data, std::int32_t player) {
    load(data);
    std::fill(ids_.begin(), ids_.end(), 0);  // a count that claims too much must not find ids of an earlier call
    std::int64_t count = 0;
    if (!call(needed(rules.legal), count, rules, state_.data(), player, ids_.data()) ||
        !valid_ids(ids_.data(), count, rules.actions))
      return nb::none();
    nb::list actions;
    for (std::int64_t i = 0; i < count; ++i) actions.append(ids_[static_cast<std::size_t>(i)]);
    return actions;
  }

  nb::object step(const nb::bytes& data, const nb::sequence& actions) {
    load(data);
    if (nb::len(actions) != joint_.size())
      throw nb::value_error(("step needs " + std::to_string(joint_.size()) + " actions, one per player").c_str());
    for (std::size_t i = 0; i < joint_.size(); ++i) joint_[i] = nb::cast<std::int32_t>(actions[i]);
    std::fill(low_.begin(), low_.end(), 0.0);
    std::int64_t ignored = 0;
    if (!call(needed(rules.step), ignored, rules, state_.data(), joint_.data(), low_.data()) ||
        !valid_rewards(low_.data(), rules.players))
      return nb::none();
    return nb::make_tuple(state(), list(low_));
  }

  nb::object chance(const nb::bytes& data) {
    load(data);
    std::fill(ids_.begin(), ids_.end(), 0);
    std::fill(chances_.begin(), chances_.end(), 0.0);
    std::int64_t count = 0;
    if (!call(needed(rules.chance), count, rules, state_.data(), ids_.data(), chances_.data()) ||
        !valid_chances(rules, ids_.data(), chances_.data(), count))
      return nb::none();
    nb::list pairs;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) pairs.append(nb::make_tuple(ids_[i], chances_[i]));
    return pairs;
  }

  nb::object draw(const nb::bytes& data, std::uint64_t word) {
    load(data);
    std::int64_t outcome = 0;
    if (!call(needed(rules.draw), outcome, rules, state_.data(), &word) || outcome != static_cast<std::int32_t>(outcome))
      return nb::none();
    return nb::make_tuple(outcome, word);
  }

  nb::object same(const nb::bytes& data, std::int32_t player, std::int32_t action) {
    load(data);
    std::int64_t representative = 0;
    if (!call(needed(rules.same), representative, rules, state_.data(), player, action)) return nb::none();
    return nb::int_(representative);
  }

  nb::object key(const nb::bytes& data) {
    load(data);
    std::memset(key_.data(), 0, key_.size() * 8);
    std::int64_t ignored = 0;
    if (!call(needed(rules.key), ignored, rules, state_.data(), static_cast<void*>(key_.data()))) return nb::none();
    return nb::bytes(key_.data(), rules.key_size);
  }

  nb::object bounds(const nb::bytes& data) {
    load(data);
    std::fill(low_.begin(), low_.end(), 0.0);
    std::fill(high_.begin(), high_.end(), 0.0);
    std::int64_t ignored = 0;
    if (!call(needed(rules.bounds), ignored, rules, state_.data(), low_.data(), high_.data())) return nb::none();
    return nb::make_tuple(list(low_), list(high_));
  }

  nb::object event(const nb::bytes& data) {
    load(data);
    std::int64_t event_words[kEventWords] = {}, ignored = 0;
    if (!call(needed(rules.event), ignored, rules, state_.data(), event_words)) return nb::none();
    return nb::make_tuple(event_words[0], event_words[1], event_words[2], event_words[3]);
  }

  nb::object rollout_action(const nb::bytes& data, std::int32_t player, std::uint64_t word) {
    load(data);
    std::int64_t action = 0;
    if (!call(needed(rules.rollout_action), action, rules, state_.data(), player, &word) || action != static_cast<std::int32_t>(action))
      return nb::none();
    return nb::make_tuple(action, word);
  }

  nb::object heuristic(const nb::bytes& data) {
    load(data);
    std::fill(low_.begin(), low_.end(), 0.0);
    std::int64_t ignored = 0;
    if (!call(needed(rules.heuristic), ignored, rules, state_.data(), low_.data()) || !finite(low_.data(), rules.players)) return nb::none();
    return list(low_);
  }

  bool observe(const nb::bytes& data, std::int32_t player, nb::ndarray<float, nb::c_contig, nb::device::cpu> planes) {
    load(data);
    if (planes.size() != rules.planes)
      throw nb::value_error(("observe needs " + std::to_string(rules.planes) + " floats to write to").c_str());
    std::int64_t ignored = 0;
    return call(needed(rules.observe), ignored, rules, state_.data(), player, planes.data());
  }

  // The instance's record as it is now: verbs must leave it alone, and `check` looks.
  nb::bytes instance() const { return nb::bytes(instance_.data(), instance_size_); }

  Rules rules;

 private:
  template <class V>
  static void fill(V& verb, std::uintptr_t address) {
    verb = reinterpret_cast<V>(address);
  }

  template <class V>
  static V needed(V verb) {
    if (!verb) throw nb::value_error("this verb has no code yet");
    return verb;
  }

  template <class T>
  static nb::list list(const std::vector<T>& values) {
    nb::list items;
    for (const T value : values) items.append(value);
    return items;
  }

  void load(const nb::bytes& data) {
    if (data.size() != rules.state_size)
      throw nb::value_error(
          ("a state has " + std::to_string(rules.state_size) + " bytes, found " + std::to_string(data.size())).c_str());
    std::memcpy(state_.data(), data.data(), data.size());
  }

  nb::bytes state() const { return nb::bytes(state_.data(), rules.state_size); }

  std::vector<std::uint64_t> instance_;  // words, for the alignment
  std::size_t instance_size_;
  std::vector<std::uint64_t> state_, key_;
  std::vector<std::int32_t> ids_, joint_;
  std::vector<double> chances_, low_, high_;
  std::vector<nb::object> owners_;
};
